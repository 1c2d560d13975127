import type { Awareness } from 'y-protocols/awareness'
import type { Point } from '@docrelay/model/canvas/geometry/bounds'
import type { Place } from './page-edits.ts'

/** Somebody else on the page, a person or an agent, as their awareness shows them. */
export interface Peer {
  readonly clientId: number
  readonly name: string
  /** As `#8250df`. */
  readonly color: string
  readonly isAgent: boolean
  /** The shapes that they selected, or that the agent wrote. [PRES-1] */
  readonly selection: readonly string[]
  readonly pointer: Point | null
  /** The new places of the shapes that they are dragging. */
  readonly moving: ReadonlyMap<string, Place>
}

/** The awareness member `canvas`, by which others see this person on a canvas page. */
export interface ShownOnCanvas {
  readonly page: string
  readonly pointer: Point | null
  /** The new places of dragged shapes, by id. They are written when the drag ends. */
  readonly moving: Readonly<Record<string, Place>> | null
}

const MOST_SHAPES = 50
const MOST_NAME = 64
const COLOUR = /^#[0-9a-f]{6}$/i
const OTHER_COLOUR = '#59636e'

/** Returns the others on the page. The relay does not check awareness states, so malformed members are left out. */
export function peersOn(pageId: string, states: ReadonlyMap<number, unknown>, own: number): readonly Peer[] {
  const peers: Peer[] = []
  for (const [clientId, state] of states) {
    const user = memberOf(state, 'user')
    const canvas = memberOf(state, 'canvas')
    if (clientId === own || memberOf(user, 'page') !== pageId) continue
    const isHere = memberOf(canvas, 'page') === pageId
    const [name, color] = [memberOf(user, 'name'), memberOf(user, 'color')]
    peers.push({
      clientId,
      name: typeof name === 'string' ? name.slice(0, MOST_NAME) : '',
      color: typeof color === 'string' && COLOUR.test(color) ? color : OTHER_COLOUR,
      isAgent: memberOf(user, 'kind') === 'agent',
      selection: strings(memberOf(user, 'selection')),
      pointer: isHere ? pointOf(memberOf(canvas, 'pointer')) : null,
      moving: isHere ? placesOf(memberOf(canvas, 'moving')) : new Map(),
    })
  }
  return peers.toSorted((a, b) => a.clientId - b.clientId)
}

/** Shows others this person's page, selection and dragged shapes. Sends at most ten states in a second, and always the last one. */
export class OwnPresence {
  readonly #awareness: Awareness
  readonly #pageId: string
  readonly #gapMs: number
  #shown: { readonly selection: readonly string[]; readonly canvas: ShownOnCanvas }
  #timer: ReturnType<typeof setTimeout> | null = null
  #isWaiting = false

  constructor(awareness: Awareness, pageId: string, gapMs = 100) {
    this.#awareness = awareness
    this.#pageId = pageId
    this.#gapMs = gapMs
    this.#shown = { selection: [], canvas: { page: pageId, pointer: null, moving: null } }
    this.#send()
  }

  show(change: Partial<ShownOnCanvas> & { readonly selection?: readonly string[] }): void {
    const { selection = this.#shown.selection, ...canvas } = change
    this.#shown = { selection: selection.slice(0, MOST_SHAPES), canvas: { ...this.#shown.canvas, ...canvas } }
    if (this.#timer !== null) this.#isWaiting = true
    else this.#send()
  }

  /** Removes this person from the page, unless they have opened another page meanwhile. */
  destroy(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (memberOf(this.#user(), 'page') !== this.#pageId) return
    const { page: _, selection: __, ...user } = this.#user()
    this.#awareness.setLocalState({ ...this.#awareness.getLocalState(), user, canvas: null })
  }

  #user(): Record<string, unknown> {
    return (memberOf(this.#awareness.getLocalState(), 'user') ?? {}) as Record<string, unknown>
  }

  #send(): void {
    this.#isWaiting = false
    const state = this.#awareness.getLocalState()
    if (state !== null) {
      const user = { ...this.#user(), page: this.#pageId, selection: this.#shown.selection }
      this.#awareness.setLocalState({ ...state, user, canvas: this.#shown.canvas })
    }
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#isWaiting) this.#send()
    }, this.#gapMs)
  }
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(color: string): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return light > 0.179 ? '#000000' : '#ffffff'
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.slice(0, MOST_SHAPES).filter((id): id is string => typeof id === 'string') : []
}

function pointOf(value: unknown): Point | null {
  const [x, y] = [memberOf(value, 'x'), memberOf(value, 'y')]
  return isNumber(x) && isNumber(y) ? { x, y } : null
}

function placesOf(value: unknown): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  if (typeof value !== 'object' || value === null) return places
  for (const [id, place] of Object.entries(value).slice(0, MOST_SHAPES)) {
    const point = pointOf(place)
    const [w, h] = [memberOf(place, 'w'), memberOf(place, 'h')]
    if (point !== null) places.set(id, { ...point, ...(isNumber(w) && { w }), ...(isNumber(h) && { h }) })
  }
  return places
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 10_000_000
}
