"""Knowledge about English: words and their inflections, noun classes, sentences, numbers, PropBank frames."""
