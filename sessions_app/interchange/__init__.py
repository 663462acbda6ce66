"""What other systems send and take: traces by OpenTelemetry's protocol."""
