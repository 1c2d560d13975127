import type { DocumentBody } from '../../body.ts'
import { isRefusal, type Edit, type Edited, type EditEnvironment, type Refusal } from '../../edit.ts'
import type { Json, JsonObject } from '../../json.ts'
import { body, prosePage } from '../../testing/builders.ts'

/** An environment that makes ids in order: `blk-0000000001`, `blk-0000000002`, … */
export function countingEnvironment(nowMs = Date.UTC(2026, 6, 1, 12, 34, 56)): EditEnvironment {
  let count = 0
  return { nowMs, random: (length) => String(++count).padStart(length, '0') }
}

/** A document with one prose page `p` and a canvas page `c`. */
export function proseBody(
  html: string,
  more: { readonly [name: string]: Json } = {},
  ...others: readonly JsonObject[]
): DocumentBody {
  return body({ pages: [{ id: 'c', name: 'Canvas', shapes: [] }], richTextPages: [prosePage('p', html), ...others], ...more })
}

export function contentOf(given: DocumentBody, pageId = 'p'): string | undefined {
  return given.prose.pages.find((page) => page.id === pageId)?.content
}

/** Runs an edit and returns its success; throws when it refuses. */
export function done<A, R>(edit: Edit<A, R>, given: DocumentBody, args: A, environment = countingEnvironment()): Edited<R> {
  const answer = edit(given, args, environment)
  if (isRefusal(answer)) throw new Error(`${answer.code}: ${answer.message}`)
  return answer
}

/** Runs an edit and returns the page's HTML afterwards. */
export function html<A, R>(edit: Edit<A, R>, given: DocumentBody, args: A): string | undefined {
  return contentOf(done(edit, given, args).body)
}

/** Runs an edit and returns its refusal; throws when it succeeds. */
export function refusal<A, R>(edit: Edit<A, R>, given: DocumentBody, args: A): Refusal {
  const answer = edit(given, args, countingEnvironment())
  if (!isRefusal(answer)) throw new Error('the edit was not refused')
  return answer
}
