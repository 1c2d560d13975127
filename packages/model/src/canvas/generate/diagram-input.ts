import type { Printed } from '../../prose/block-names.ts'
import { type Fix, isRefusal, refused, type Refusal } from '../../edit.ts'
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../json.ts'
import { NameHints, nearestNames } from '../../nearest.ts'
import { needlessArgument } from '../../needless.ts'
import { cleanText } from '../../prose/values.ts'
import { quote } from '../../quote.ts'
import type { Point } from '../geometry/bounds.ts'
import type { DrawnDiagram } from './draw-diagram.ts'

/** The arguments of generate_diagram, already checked against its schema. */
export interface GenerateDiagram extends Printed {
  readonly pageId: string
  readonly nodes: readonly JsonObject[]
  readonly edges?: readonly JsonObject[] | undefined
  readonly layout?: 'layered' | 'grid' | undefined
  readonly direction?: 'TB' | 'LR' | undefined
  readonly routing?: 'orthogonal' | 'straight' | undefined
  /** The id of the shape beside which the diagram is placed. [AG-107] */
  readonly near?: string | undefined
  /** The layout that was made before the edit. When it is absent, the edit makes the layout. [DIAG-17] */
  readonly drawn?: DrawnDiagram | undefined
  /**
   * The preparation before the edit refused the diagram and made no layout. The edit refuses the diagram again, or is outdated when the reason is gone.
   * [DIAG-17, CONC-13]
   */
  readonly isRefused?: true | undefined
  /** Whether the edit fits `drawn` to a page that has changed since `drawn` was made. When false, such an edit is outdated. [AG-106] */
  readonly fit?: boolean | undefined
}

/** A diagram as a call describes it, each member checked. */
export interface Diagram {
  readonly nodes: readonly DiagramNodeInput[]
  readonly edges: readonly DiagramEdgeInput[]
  readonly layout: 'layered' | 'grid'
  readonly direction: 'TB' | 'LR'
  readonly routing: 'orthogonal' | 'straight'
  readonly near: string | null
  readonly fixes: readonly Fix[]
}

export interface DiagramNodeInput {
  readonly id: string
  readonly label: string
  readonly kind: 'rectangle' | 'ellipse'
  /** The centre that the caller chose for the node; `null` when the caller chose none. [AG-106] */
  readonly at: Point | null
  /** The id of the shape on the page that this node stands for; `null` for a new node. [AG-106] */
  readonly shapeId: string | null
}

/** An edge as a call describes it. `from` and `to` are indexes into the list of nodes. */
export interface DiagramEdgeInput {
  readonly from: number
  readonly to: number
  readonly label: string | null
}

const maxNodes = 500
const maxEdges = 1000
const maxId = 128
const maxLabel = 500
const farthest = 1_000_000

/** Refuses wrong arguments of generate_diagram. Returns `null` when none is wrong. Needs no document. [DIAG-2, LIM-8, MCP-3] */
export function diagramFlaw(args: GenerateDiagram): Refusal | null {
  const diagram = readDiagram(args)
  if (isRefusal(diagram)) return diagram
  const isPlaced = diagram.nodes.every(({ at, shapeId }) => at !== null || shapeId !== null)
  if (diagram.near === null || !isPlaced) return null
  return needlessArgument('near', 'every node has a place of its own', 'near with a node without at and shapeId')
}

/** Reads the nodes and edges of a call. Leaves unusable members out and lists them in `fixes`. [DIAG-1 to DIAG-3] */
export function readDiagram(args: GenerateDiagram): Diagram | Refusal {
  const given = args.edges ?? noEdges
  const limit = limitFlaw(args.nodes.length, given.length)
  if (limit !== null) return limit
  const known = readBefore.get(args.nodes)
  const read = known?.given === given ? known.read : readItems(args.nodes, given)
  readBefore.set(args.nodes, { given, read })
  if (isRefusal(read)) return read
  const { layout = read.edges.length > 0 ? 'layered' : 'grid', direction = 'TB', routing = 'orthogonal', near = null } = args
  return { ...read, layout, direction, routing, near }
}

type Items = Pick<Diagram, 'nodes' | 'edges' | 'fixes'>

const noEdges: readonly JsonObject[] = []

/**
 * Caches what `readDiagram` has read, by the list of nodes. A call is checked, laid out and written with the same lists of nodes and edges. These lists may
 * be as long as a request, so they are read only once. [CONC-13]
 */
const readBefore = new WeakMap<readonly JsonObject[], { readonly given: readonly JsonObject[]; readonly read: Items | Refusal }>()

function readItems(givenNodes: readonly JsonObject[], given: readonly JsonObject[]): Items | Refusal {
  const fixes: Fix[] = []
  const hints = new NameHints()
  const noteOf = (item: Pick<Fix, 'node' | 'edge'>): Note => ({
    isFull: () => fixes.length >= maxFixes,
    hints,
    add: (fix) => void (fixes.length < maxFixes && fixes.push({ ...fix, ...item })),
  })
  const nodes: DiagramNodeInput[] = []
  const places = new Map<string, number>()
  const shapes = new Map<string, number>()
  for (const [place, node] of givenNodes.entries()) {
    const id = nodeId(node, place, places)
    if (isRefusal(id)) return id
    places.set(id.id, place)
    const read = readNode(id.id, node, noteOf({ node: place }))
    const other = read.shapeId === null ? undefined : shapes.get(read.shapeId)
    if (other !== undefined) return nodeRefused(place, id.id, `stands for the same shape as nodes[${other}]`)
    if (read.shapeId !== null) shapes.set(read.shapeId, place)
    nodes.push(read)
  }
  const edges: DiagramEdgeInput[] = []
  for (const [place, edge] of given.entries()) {
    const from = edgeEnd('from', edge, place, places)
    if (typeof from !== 'number') return from
    const to = edgeEnd('to', edge, place, places)
    if (typeof to !== 'number') return to
    const note = noteOf({ edge: place })
    tellUnknown(edge, ['from', 'to', 'label'], 'an edge', note)
    edges.push({ from, to, label: readLabel(edge, note) })
  }
  return { nodes, edges, fixes }
}

function limitFlaw(nodes: number, edges: number): Refusal | null {
  if (nodes > 0 && nodes <= maxNodes && edges <= maxEdges) return null
  const message = `A diagram has 1 to ${maxNodes} nodes and at most ${maxEdges} edges; the call has ${nodes} and ${edges}.`
  return refused('ERR_DIAGRAM_LIMIT', message, { nodes, edges, max: { nodes: maxNodes, edges: maxEdges } })
}

function nodeId(node: JsonObject, place: number, taken: ReadonlyMap<string, number>): { readonly id: string } | Refusal {
  const given = memberOf(node, 'id')
  if (typeof given !== 'string') return nodeRefused(place, null, `needs an id, a string of 1 to ${maxId} characters`)
  const id = given.trim()
  if (id === '' || firstCharacters(id, maxId).length < id.length)
    return nodeRefused(place, id, `has an id of 0 or of more than ${maxId} characters`)
  const other = taken.get(id)
  return other === undefined ? { id } : nodeRefused(place, id, `has the id "${quote(id)}", which nodes[${other}] has`)
}

export function nodeRefused(node: number, id: string | null, why: string): Refusal {
  return refused('ERR_DIAGRAM_NODE', `nodes[${node}] ${why}.`, { node, id: id === null ? null : quote(id) })
}

/** The index of the node at one end of an edge. */
function edgeEnd(side: 'from' | 'to', edge: JsonObject, place: number, nodes: ReadonlyMap<string, number>): number | Refusal {
  const given = memberOf(edge, side)
  const id = typeof given === 'string' ? given.trim() : null
  const found = id === null ? undefined : nodes.get(id)
  if (found !== undefined) return found
  const nearest = id === null ? [] : nearestNames(id, nodes.keys()).map(quote)
  const shown = id === null ? null : quote(id)
  const what =
    shown === null ? `edges[${place}] needs ${side}, the id of a node` : `edges[${place}].${side}: no node has the id "${shown}"`
  const hint = nearest.length === 0 ? '' : `; nearest: ${nearest.join(', ')}`
  return refused('ERR_DIAGRAM_EDGE', `${what}${hint}.`, { edge: place, id: shown, ...(nearest.length > 0 && { nearest }) })
}

/** Collects the fixes of one node or edge. */
interface Note {
  add(fix: Fix): void
  /** Whether `maxFixes` is reached, so that more fixes would be dropped. */
  isFull(): boolean
  readonly hints: NameHints
}

/** The most fixes that are kept of one call; further fixes are not counted. An answer shows far fewer. [TOOL-18] */
const maxFixes = 10_000

function readNode(id: string, node: JsonObject, note: Note): DiagramNodeInput {
  tellUnknown(node, ['id', 'label', 'kind', 'type', 'at', 'shapeId'], 'a node', note)
  const shapeId = memberOf(node, 'shapeId')
  if (typeof shapeId === 'string') {
    for (const field of ['label', 'kind', 'type', 'at'])
      if (memberOf(node, field) !== undefined)
        note.add({
          action: 'dropped_invalid',
          field,
          reason: 'a shape that is on the page stays as it is; change it by service_update_shape',
        })
    return { id, label: id, kind: 'rectangle', at: null, shapeId }
  }
  if (shapeId !== undefined && shapeId !== null)
    note.add({ action: 'dropped_invalid', field: 'shapeId', reason: 'takes the id of a shape on the page' })
  return { id, label: readLabel(node, note) ?? cleanText(id), kind: readKind(node, note), at: readAt(node, note), shapeId: null }
}

/** Adds a fix for each member whose name is not in `known`. [DIAG-2] */
function tellUnknown(given: JsonObject, known: readonly string[], what: string, note: Note): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    if (note.isFull()) return
    const isIcon = name.slice(0, 4).toLowerCase() === 'icon'
    const hint = isIcon ? '; shapes with icons are drawn by service_add_shape' : meant(name, known, what, note.hints)
    note.add({ action: 'dropped_unknown', field: quote(name), reason: `${what} has no such member${hint}` })
  }
}

function meant(name: string, known: readonly string[], what: string, hints: NameHints): string {
  const likely = ['text', 'name', 'title'].includes(name) ? 'label' : hints.likelyMeant(name, what, known)
  return likely === null ? '' : `; did you mean ${likely}?`
}

/** Reads the label of a node or edge. Returns `null` when the call gives no usable label. */
function readLabel(given: JsonObject, note: Note): string | null {
  const label = memberOf(given, 'label')
  if (label === undefined || label === null) return null
  if (typeof label !== 'string') {
    note.add({ action: 'dropped_invalid', field: 'label', reason: 'takes a string' })
    return null
  }
  const cut = firstCharacters(label, maxLabel)
  if (cut.length < label.length)
    note.add({ action: 'clamped', field: 'label', reason: `takes at most ${maxLabel} characters; the rest was cut` })
  const text = cleanText(cut)
  if (text !== cut)
    note.add({
      action: 'dropped_invalid',
      field: 'label',
      reason: 'a label has no NUL and no lone surrogates, and its line breaks are LF',
    })
  return text
}

function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text
  // A character takes at most two UTF-16 units, so the first `2 * most + 2` units contain the first `most` characters.
  return Array.from(text.slice(0, 2 * most + 2))
    .slice(0, most)
    .join('')
}

function readKind(node: JsonObject, note: Note): 'rectangle' | 'ellipse' {
  const [kind, type] = [memberOf(node, 'kind'), memberOf(node, 'type')]
  const found = kind ?? type ?? 'rectangle'
  if (kind !== undefined && kind !== null && type !== undefined && type !== null && kind !== type)
    note.add({ action: 'dropped_invalid', field: 'type', reason: 'kind and type differ; kind was taken' })
  if (found === 'rectangle' || found === 'ellipse') return found
  const field = kind === undefined || kind === null ? 'type' : 'kind'
  note.add({ action: 'dropped_invalid', field, reason: 'a node is a rectangle or an ellipse; rectangle was taken' })
  return 'rectangle'
}

/** Reads the centre that a call gives for a node; `null` when it gives no usable one. [AG-106] */
function readAt(node: JsonObject, note: Note): Point | null {
  const given = memberOf(node, 'at')
  if (given === undefined || given === null) return null
  const [x, y] = isJsonObject(given) ? [memberOf(given, 'x'), memberOf(given, 'y')] : []
  if (!isNumber(x) || !isNumber(y)) {
    note.add({ action: 'dropped_invalid', field: 'at', reason: 'takes the centre of the node, {x, y}; a free place was taken' })
    return null
  }
  const at = { x: within(x), y: within(y) }
  if (at.x !== x || at.y !== y)
    note.add({ action: 'clamped', field: 'at', reason: `x and y are numbers from ${-farthest} to ${farthest}` })
  return at
}

function isNumber(given: Json | undefined): given is number {
  return typeof given === 'number' && Number.isFinite(given)
}

/** Limits a coordinate. Adds 0 because that turns -0 into 0: JSON does not keep -0. */
function within(value: number): number {
  return Math.min(Math.max(value, -farthest), farthest) + 0
}
