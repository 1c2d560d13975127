import type { Bounds, Point } from '../../geometry/bounds.ts'
import type { DiagramLayout, DiagramRequest } from '../diagram.ts'

/** Lists where a layout breaks the hard rules, in words. It shares no code with the layout. */
export function faultsOf({ nodes, edges }: DiagramRequest, layout: DiagramLayout): readonly string[] {
  const boxes = nodes.map(({ width, height }, i): Bounds => {
    const { x, y } = layout.centres[i] as Point
    return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 }
  })
  const lines = layout.edges.map(({ start, waypoints, end }) => [start, ...(waypoints ?? []), end])
  const faults: string[] = []
  const whole = [...layout.centres, ...lines.flat()].every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y))
  if (!whole) faults.push('a coordinate is no integer')
  boxes.forEach((a, i) =>
    boxes.forEach((b, k) => {
      if (i >= k) return
      const across = Math.max(a.left - b.right, b.left - a.right)
      const down = Math.max(a.top - b.bottom, b.top - a.bottom)
      if (Math.max(across, down) < 80) faults.push(`nodes ${i} and ${k} are ${Math.max(across, down)} apart`)
    }),
  )
  lines.forEach((points, edge) => {
    for (const [a, b] of piecesOf(points)) {
      if (a.x !== b.x && a.y !== b.y) faults.push(`edge ${edge} is not made of right angles`)
      boxes.forEach((box, node) => {
        const own = edges[edge]?.from === node || edges[edge]?.to === node
        const room = own ? 0 : 15
        const isInside =
          Math.min(a.x, b.x) < box.right + room &&
          Math.max(a.x, b.x) > box.left - room &&
          Math.min(a.y, b.y) < box.bottom + room &&
          Math.max(a.y, b.y) > box.top - room
        if (isInside) faults.push(`edge ${edge} is too near to node ${node}`)
      })
    }
    const [first, last] = [piecesOf(points)[0], piecesOf(points).at(-1)]
    for (const piece of [first, last])
      if (piece !== undefined && lengthOf(piece) < 20) faults.push(`edge ${edge} has a stub of ${lengthOf(piece)}`)
  })
  return faults
}

interface LabelBox {
  readonly edge: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Finds the boxes of the labels of a layout. It shares no code with the layout. */
function labelsOf({ edges }: DiagramRequest, layout: DiagramLayout): readonly LabelBox[] {
  return layout.edges.flatMap(({ start, waypoints, end, labelPosition }, edge) => {
    const label = edges[edge]?.label ?? null
    if (label === null) return []
    const pieces = piecesOf([start, ...(waypoints ?? []), end])
    let left = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0) * (labelPosition ?? 0.5)
    const piece = pieces.find((one) => (left -= lengthOf(one)) <= 0) as Piece
    const [a, b] = piece
    const share = 1 + left / lengthOf(piece)
    return [{ edge, x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share, ...label }]
  })
}

/** Labels that hide a node or another label. */
export function labelFaultsOf(request: DiagramRequest, layout: DiagramLayout): readonly string[] {
  const boxes = layout.centres.map(({ x, y }, i) => {
    const { width, height } = request.nodes[i] as { width: number; height: number }
    return { name: `node ${i}`, x, y, width, height }
  })
  const labels = labelsOf(request, layout).map((label) => ({ ...label, name: `label ${label.edge}` }))
  return labels.flatMap((label, i) =>
    [...boxes, ...labels.slice(i + 1)].flatMap((other) => {
      const across = Math.abs(label.x - other.x) - (label.width + other.width) / 2
      const down = Math.abs(label.y - other.y) - (label.height + other.height) / 2
      return across < 0 && down < 0 ? [`${label.name} covers ${other.name}`] : []
    }),
  )
}

/** Labels that lie on a line of another edge. */
export function linesUnderLabels(request: DiagramRequest, layout: DiagramLayout): readonly string[] {
  const lines = layout.edges.map(({ start, waypoints, end }) => piecesOf([start, ...(waypoints ?? []), end]))
  return labelsOf(request, layout).flatMap((label) =>
    lines.flatMap((pieces, edge) => {
      const isUnder = ([a, b]: Piece) =>
        Math.min(a.x, b.x) < label.x + label.width / 2 &&
        Math.max(a.x, b.x) > label.x - label.width / 2 &&
        Math.min(a.y, b.y) < label.y + label.height / 2 &&
        Math.max(a.y, b.y) > label.y - label.height / 2
      return edge !== label.edge && pieces.some(isUnder) ? [`label ${label.edge} covers edge ${edge}`] : []
    }),
  )
}

/** Pairs of edges that lie on each other, or run beside each other at less than 12, outside of a common trunk. */
export function sharedStretches({ edges }: DiagramRequest, layout: DiagramLayout): readonly string[] {
  const lines = layout.edges.map(({ start, waypoints, end }) => [start, ...(waypoints ?? []), end])
  const faults: string[] = []
  lines.forEach((p, i) =>
    lines.forEach((q, k) => {
      if (i >= k) return
      const trunk = [
        ...(same(p[0], q[0]) ? commonStart(p, q) : []),
        ...(same(p.at(-1), q.at(-1)) ? commonStart(p.toReversed(), q.toReversed()) : []),
        ...(same(p[0], q.at(-1)) ? commonStart(p, q.toReversed()) : []),
        ...(same(p.at(-1), q[0]) ? commonStart(p.toReversed(), q) : []),
      ]
      for (const one of piecesOf(p))
        for (const other of piecesOf(q)) {
          const stretch = besides(one, other)
          if (stretch === null) continue
          const isTrunk = trunk.some(([a, b]) => holds(a, b, stretch[0]) && holds(a, b, stretch[1]))
          if (!isTrunk) faults.push(`edges ${i} (${edges[i]?.from}-${edges[i]?.to}) and ${k} (${edges[k]?.from}-${edges[k]?.to})`)
        }
    }),
  )
  return faults
}

type Piece = readonly [Point, Point]

function piecesOf(points: readonly Point[]): readonly Piece[] {
  return points.slice(1).map((b, i) => [points[i] as Point, b])
}

function lengthOf([a, b]: Piece): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
}

function same(a: Point | undefined, b: Point | undefined): boolean {
  return a?.x === b?.x && a?.y === b?.y
}

/** The stretch of the first piece along which the other piece runs at less than 12; `null` when there is none. */
function besides([a, b]: Piece, [c, d]: Piece): Piece | null {
  for (const [along, across] of [
    ['x', 'y'],
    ['y', 'x'],
  ] as const) {
    if (a[across] !== b[across] || c[across] !== d[across] || Math.abs(a[across] - c[across]) >= 12) continue
    const low = Math.max(Math.min(a[along], b[along]), Math.min(c[along], d[along]))
    const high = Math.min(Math.max(a[along], b[along]), Math.max(c[along], d[along]))
    if (high <= low) continue
    const at = (value: number): Point => (along === 'x' ? { x: value, y: a.y } : { x: a.x, y: value })
    return [at(low), at(high)]
  }
  return null
}

/** The pieces that two ways share from their common start on. */
function commonStart(p: readonly Point[], q: readonly Point[]): readonly Piece[] {
  const common: Piece[] = []
  let from = p[0] as Point
  for (let i = 1; i < Math.min(p.length, q.length); i++) {
    const [a, b] = [p[i] as Point, q[i] as Point]
    const sameWay =
      (Math.sign(a.x - from.x) === Math.sign(b.x - from.x) && a.y === b.y && a.y === from.y) ||
      (Math.sign(a.y - from.y) === Math.sign(b.y - from.y) && a.x === b.x && a.x === from.x)
    if (!sameWay) break
    const next = lengthOf([from, a]) < lengthOf([from, b]) ? a : b
    common.push([from, next])
    if (!same(a, b)) break
    from = next
  }
  return common
}

function holds(a: Point, b: Point, { x, y }: Point): boolean {
  return Math.min(a.x, b.x) <= x && x <= Math.max(a.x, b.x) && Math.min(a.y, b.y) <= y && y <= Math.max(a.y, b.y)
}
