"""The bundled tracker."""
