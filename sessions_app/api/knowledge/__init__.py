"""Endpoints of knowledge bases and drafts."""
