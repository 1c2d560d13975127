import { isBlobHash } from '../blob-references.ts'
import { type JsonObject, memberOf } from '../json.ts'

/** A string member; the relay does not check what editors store. */
export function stringOf(value: JsonObject, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

export function centreOf(value: JsonObject): { readonly x: number; readonly y: number } {
  return { x: numberOr(value, 'x', 0), y: numberOr(value, 'y', 0) }
}

/** Types that go from one point to another instead of having a size. */
export function isConnecting(type: string): boolean {
  return type === 'connector' || type === 'line'
}

interface Size {
  readonly width: number
  readonly height: number
}

const defaultSizes: { readonly [type: string]: Size } = {
  rectangle: { width: 100, height: 80 },
  ellipse: { width: 100, height: 80 },
  text: { width: 200, height: 50 },
  file: { width: 200, height: 160 },
}

/** The size of a stored box; `null` for one of another type that names none. [CANVAS-5, CANVAS-15] */
export function sizeOf(value: JsonObject, type: string): Size | null {
  const fallback = Object.hasOwn(defaultSizes, type) ? (defaultSizes[type] as Size) : null
  if (type === 'ellipse')
    return { width: finite(2 * numberOr(value, 'radiusX', 50)), height: finite(2 * numberOr(value, 'radiusY', 40)) }
  const [width, height] = [memberOf(value, 'width'), memberOf(value, 'height')]
  if (fallback === null && typeof width !== 'number' && typeof height !== 'number') return null
  return { width: numberOr(value, 'width', fallback?.width ?? 0), height: numberOr(value, 'height', fallback?.height ?? 0) }
}

/** The hash of a stored reference, written bare or as `blob://<hash>`; `null` for anything else. [FILE-2] */
export function bareHash(reference: unknown): string | null {
  if (typeof reference !== 'string') return null
  const hash = reference.startsWith('blob://') ? reference.slice('blob://'.length) : reference
  return isBlobHash(hash) ? hash : null
}

/** What adding and doubling stored numbers gives, as a number that JSON has: the largest where it is beyond that. */
export function finite(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}

function numberOr(value: JsonObject, name: string, fallback: number): number {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : fallback
}
