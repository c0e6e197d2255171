"""Knowledge about English: words and inflections, noun kinds, sentences, numbers and PropBank frames."""
