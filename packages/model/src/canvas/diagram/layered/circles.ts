const [OPEN, ON_PATH, DONE] = [0, 1, 2]

/**
 * Breaks all circles of a graph: finds one circle after the other and asks the caller which item of the circle to break. A part of the graph in which no
 * circle was found is not searched again.
 *
 * @param below returns the items that an item leads to. For a broken item, returns the items that its remaining part leads to; no item leads to this part.
 * @param breakOne returns the item of a circle to break.
 */
export function breakCircles(
  count: number,
  below: (item: number) => readonly number[],
  breakOne: (circle: readonly number[]) => number,
): void {
  const state = new Uint8Array(count)
  const isBroken = new Uint8Array(count)
  const path: { readonly item: number; readonly next: readonly number[]; step: number }[] = []
  const enter = (item: number): void => {
    state[item] = ON_PATH
    path.push({ item, next: below(item), step: 0 })
  }
  for (let root = 0; root < count; root++) {
    if (state[root] === OPEN) enter(root)
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const item = last.next[last.step++]
      if (item === undefined) {
        state[last.item] = DONE
        path.pop()
      } else if (isBroken[item] === 1) {
        continue
      } else if (state[item] === OPEN) {
        enter(item)
      } else if (state[item] === ON_PATH) {
        const from = path.findIndex((entered) => entered.item === item)
        const broken = breakOne(path.slice(from).map((entered) => entered.item))
        isBroken[broken] = 1
        // The items entered after the broken item are open again: another path may lead to these items.
        const cut = path.findIndex((entered) => entered.item === broken)
        for (const entered of path.splice(cut)) state[entered.item] = OPEN
        if (path.length === 0) enter(root)
      }
    }
  }
}
