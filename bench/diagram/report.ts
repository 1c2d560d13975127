import type { Counts } from './checker.ts'
import type { LabelCounts } from './label-cover.ts'

/** Measurements of one drawing. `moved`: the mean distance by which a node moves when one edge is removed. */
export type Measured =
  | { readonly counts: Counts; readonly cpuMs: number; readonly moved: number | null }
  | { readonly failed: string }

export interface Row {
  readonly name: string
  readonly nodes: number
  readonly edges: number
  readonly ours: Measured
  readonly labelOverflow: number
  /** Of the labels of our drawing. */
  readonly labels: LabelCounts
  readonly dagre: Measured
  readonly elk: Measured
  readonly elkHeld: Measured
  readonly dot: Measured
}

interface Ratios {
  readonly crossings: number | null
  readonly held: number | null
  readonly bends: number | null
  readonly length: number | null
  readonly area: number | null
  readonly moved: number | null
}

type Drawn = Exclude<Measured, { failed: string }>

const drawn = (measured: Measured): Drawn | null => ('failed' in measured ? null : measured)

/** Compares this repository's drawing with the best of the other drawings without overlaps. */
function ratiosOf(row: Row, isFair: (counts: Counts) => boolean): Ratios {
  const ours = drawn(row.ours)
  const fair = [row.dagre, row.elk, row.dot].map(drawn).filter((peer): peer is Drawn => peer !== null && isFair(peer.counts))
  const [elk, held, dagre] = [drawn(row.elk), drawn(row.elkHeld), drawn(row.dagre)]
  const best = (name: keyof Counts) => (fair.length === 0 ? null : Math.min(...fair.map(({ counts }) => counts[name])))
  const plusOne = (counts: Counts | undefined): number | null => (counts === undefined ? null : counts.crossings + 1)
  const over = (a: number | null | undefined, b: number | null | undefined) =>
    a === null || a === undefined || b === null || b === undefined || b === 0 ? null : a / b
  const bestCrossings = best('crossings')
  return {
    crossings: over(plusOne(ours?.counts), bestCrossings === null ? null : bestCrossings + 1),
    held: over(ours === null ? null : tangle(ours.counts), held === null ? null : tangle(held.counts)),
    bends: over(ours?.counts.bends, elk?.counts.bends),
    length: over(ours?.counts.length, best('length')),
    area: over(ours?.counts.area, best('area')),
    moved: over(ours?.moved, dagre?.moved),
  }
}

/** Two overlapping edges cannot be told apart, so they count as one crossing. */
function tangle({ crossings, collinear }: Counts): number {
  return crossings + collinear + 1
}

const show = (value: number | null | undefined, digits = 2) =>
  value === null || value === undefined ? '–' : value.toFixed(digits)

function quantile(values: readonly (number | null)[], share: number): number | null {
  const sorted = values.filter((value): value is number => value !== null).sort((a, b) => a - b)
  if (sorted.length === 0) return null
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null
}

export function report(rows: readonly Row[], isFair: (counts: Counts) => boolean): string {
  const ratios = rows.map((row) => ratiosOf(row, isFair))
  const counts = rows.map((row) => drawn(row.ours)?.counts)
  const sum = (name: keyof Counts, which: (row: Row) => boolean = () => true) =>
    rows.reduce((total, row, i) => total + (which(row) ? (counts[i]?.[name] ?? NaN) : 0), 0)
  const small = (row: Row) => row.nodes <= 100 && row.edges <= 200
  const goal = (name: keyof Ratios, least: string, aim: string, label: string) => {
    const values = ratios.map((ratio) => ratio[name])
    return `| ${label} | ${least} | ${aim} | ${show(quantile(values, 0.5))} | ${show(quantile(values, 0.9))} | ${values.filter((value) => value !== null).length} |`
  }
  const labels = (name: keyof LabelCounts) => rows.reduce((total, row) => total + row.labels[name], 0)
  const largest = Math.max(...rows.map((row) => drawn(row.ours)?.cpuMs ?? NaN))
  return [
    '| goal | needed | aim | median | p90 | graphs |',
    '|---|---|---|---|---|---|',
    goal('crossings', '1.45, p90 2.2', '1.2, p90 1.6', '(crossings + 1) beside the best fair peer'),
    goal('held', '0.75', '–', '(crossings + 1) beside ELK held to our four anchors'),
    goal('bends', '1.3', '1.05', 'bends beside ELK'),
    goal('length', '1.3', '–', 'length beside the shortest fair peer'),
    goal('area', '1.4', '–', 'area beside the smallest fair peer'),
    goal('moved', '3', '1', 'way of a node after one edge less, beside dagre'),
    '',
    `Of all ${rows.length} drawings: ${sum('overlaps')} overlaps, ${sum('throughNodes')} edges through nodes, ${sum('collinear', small)} pairs of edges on each other up to 100 nodes and 200 edges (${sum('collinear')} in all), ${rows.reduce((total, row) => total + row.labelOverflow, 0)} labels that do not fit. The longest took ${show(largest, 0)} CPU ms.`,
    '',
    `Of ${labels('labels')} labels of edges, ${labels('moved')} are not at their fixed position, ${labels('onBoxes')} lie on a node, ${labels('onLabels')} on another label, ${labels('onLines')} on a line of another edge and ${labels('onArrows')} on their own arrow.`,
    '',
    '| graph | nodes/edges | crossings: ours | dagre | ELK | ELK held | dot | ratio | bends/edge: ours | ELK | ratio | length ratio | area ratio | moved: ours | dagre | CPU ms: ours | dagre | ELK |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row, i) => line(row, ratios[i] as Ratios, isFair)),
  ].join('\n')
}

/** A star marks drawings with overlaps, which are excluded from the comparison. */
function line(row: Row, ratio: Ratios, isFair: (counts: Counts) => boolean): string {
  const crossings = (measured: Measured) => {
    const own = drawn(measured)
    return own === null ? '–' : `${own.counts.crossings}${isFair(own.counts) ? '' : '*'}`
  }
  const bends = (measured: Measured) => {
    const own = drawn(measured)
    return own === null || row.edges === 0 ? '–' : show(own.counts.bends / row.edges)
  }
  const [ours, dagre, elk] = [drawn(row.ours), drawn(row.dagre), drawn(row.elk)]
  const cells = [
    row.name,
    `${row.nodes}/${row.edges}`,
    ...[row.ours, row.dagre, row.elk, row.elkHeld, row.dot].map(crossings),
    show(ratio.crossings),
    bends(row.ours),
    bends(row.elk),
    show(ratio.bends),
    show(ratio.length),
    show(ratio.area),
    show(ours?.moved, 0),
    show(dagre?.moved, 0),
    show(ours?.cpuMs, 0),
    show(dagre?.cpuMs, 0),
    show(elk?.cpuMs, 0),
  ]
  return `| ${cells.join(' | ')} |`
}
