"""Knowledge about English: words, their inflections, noun kinds, sentences, numbers and PropBank frames."""
