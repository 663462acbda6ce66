"""Import and export: traces by OpenTelemetry's protocol, bundles of sessions, files of turns and of the audit log."""
