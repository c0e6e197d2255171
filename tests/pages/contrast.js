// The texts of a page whose contrast to what is behind them is less than `least` (WCAG 2.2's ratio).
(least) => {
  const parsed = (colour) => {
    const [r, g, b, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { channels: [r, g, b], alpha };
  };
  const luminance = (channels) => {
    const [r, g, b] = channels.map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const box = at.matches("g") ? at.querySelector(":scope > rect") : null; // of a node of a graph
      const ground = parsed(box ? getComputedStyle(box).fill : getComputedStyle(at).backgroundColor);
      if (ground.alpha === 1) return ground.channels;
    }
    throw new Error("nothing is behind the page");
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest("script, :disabled")) continue;
    const style = getComputedStyle(element);
    const over = luminance(parsed(element.matches("svg text") ? style.fill : style.color).channels);
    const under = luminance(behind(element));
    const ratio = (Math.max(over, under) + 0.05) / (Math.min(over, under) + 0.05);
    if (!(ratio >= least)) found.push(`${ratio.toFixed(2)}: ${text.slice(0, 60)}`);
  }
  return found;
}
