"""What several screens share: session state, text that is safe to show, controls. Screens never import each other."""
