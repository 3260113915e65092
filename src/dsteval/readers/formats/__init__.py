"""The bundled formats, one module each."""
