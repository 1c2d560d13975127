import type { DocumentBody } from '../../body.ts'
import { type Edit, type Edited, type EditEnvironment, isRefusal, type Refusal } from '../../edit.ts'
import type { JsonObject } from '../../json.ts'
import { body, canvasPage } from '../../testing/builders.ts'
import { directRouter, type Router } from '../route.ts'
import { isRoutedEdit, routedEdits, shapeEdits } from '../shape-edits.ts'

/** The time of all edits in these tests, in milliseconds. */
export const now = 77
export const provenance = { source: 'mcp', at: now }

type Edits = typeof shapeEdits
type ArgsOf<N extends keyof Edits> = Edits[N]['edit'] extends Edit<infer A, infer _> ? A : never
type ResultOf<N extends keyof Edits> = Edits[N]['edit'] extends Edit<infer _, infer R> ? R : never

/** Runs one edit of shapes. Minted ids end in a number. */
export function run<N extends keyof Edits>(
  name: N,
  given: DocumentBody,
  args: ArgsOf<N>,
  route: Router = directRouter,
): Edited<ResultOf<N>> | Refusal {
  let minted = 0
  const environment: EditEnvironment = { nowMs: now, random: (count) => String(minted++).padStart(count, '0') }
  const edit = isRoutedEdit(name) ? routedEdits[name](route) : shapeEdits[name].edit
  return (edit as unknown as Edit<ArgsOf<N>, ResultOf<N>>)(given, args, environment)
}

/** Returns the answer of an edit; throws when the edit was refused. */
export function done<T>(answer: Edited<T> | Refusal): Edited<T> {
  if (isRefusal(answer)) throw new Error(`${answer.code} ${answer.message}`)
  return answer
}

/** A document with one canvas page `p`. */
export function page(...shapes: readonly JsonObject[]): DocumentBody {
  return body({ pages: [canvasPage('p', ...shapes)] })
}

export function stored({ canvas }: DocumentBody, id: string): JsonObject {
  const found = canvas.pages[0]?.shapes.find((shape) => shape.id === id)
  if (found === undefined) throw new Error(`no shape ${id}`)
  return found.value
}

/** The ids of the shapes, bottom first. */
export function idsOf({ canvas }: DocumentBody): readonly string[] {
  return canvas.pages[0]?.shapes.map(({ id }) => id) ?? []
}
