// Find the next box in a direction.

/**
 * Return the group whose box lies nearest in the direction (dx, dy), or null.
 * A box beside the line counts as farther away. Arrow up reaches the frame around a box.
 * @param {{group: Element, box: {x: number, y: number, width: number, height: number}}[]} items
 */
export function nearest(items, from, dx, dy) {
  const here = items.find((item) => item.group === from)?.box;
  if (!here) return null;
  const origin = anchor(here);
  let best = null;
  let bestCost = Infinity;
  for (const { group, box } of items) {
    if (group === from) continue;
    const point = anchor(box);
    const along = (point.x - origin.x) * dx + (point.y - origin.y) * dy;
    const aside = Math.abs((point.x - origin.x) * dy) + Math.abs((point.y - origin.y) * dx);
    if (along <= 1) continue;
    const cost = along + aside * 2.5;
    if (cost < bestCost) {
      bestCost = cost;
      best = group;
    }
  }
  return best;
}

// The place of a tall frame is its header.
const anchor = (box) => ({ x: box.x + Math.min(box.width, 176) / 2, y: box.y + Math.min(box.height, 42) / 2 });
