"""What several screens share: session state, text that is safe to show, and controls. Screens never import each other."""
