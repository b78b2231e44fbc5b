"""The REST endpoints, one module per resource; each exports its `ENDPOINTS`."""
