import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Y from 'yjs'
import { typingTrace } from '../examples/typing-trace.ts'
import { PAGE } from './edit-stream.ts'

const AUTHOR = 7

/** A long page, and edits at its end. */
export interface History {
  readonly steps: number
  readonly characters: number
  /** The whole page as one update, as a client sends it that wrote the page offline. */
  readonly update: Uint8Array
  /** The update with one more character at the end of the page. Edit `n` continues where edit `n - 1` ended; `n` counts from 0. */
  edit(n: number): Uint8Array
  /** Throws unless `state` contains the whole page and the first `edits` edits. */
  check(state: Uint8Array, edits: number): void
}

/**
 * Makes a page with a history of single-character steps from a generated trace (see `typingTrace`), typed step by step with Yjs. Line ends
 * are typed as spaces, so that the page is one paragraph with one text: the form that costs a CRDT most.
 */
export function typedHistory(steps: number): History {
  const words = readFileSync(join(import.meta.dirname, '../examples/words.txt'), 'utf8')
    .split(/\s+/)
    .filter(Boolean)
  const trace = typingTrace({ steps, seed: 1, words })
  const doc = new Y.Doc()
  doc.clientID = AUTHOR
  const paragraph = new Y.XmlElement('paragraph')
  const text = new Y.XmlText()
  paragraph.insert(0, [text])
  doc.getXmlFragment(`prose:${PAGE}`).insert(0, [paragraph])
  for (const { position, removed, inserted } of trace.steps) {
    if (removed > 0) text.delete(position, removed)
    if (inserted !== '') text.insert(position, inserted === '\n' ? ' ' : inserted)
  }
  const update = Y.encodeStateAsUpdate(doc)
  const edits: Uint8Array[] = []
  doc.on('update', (made: Uint8Array) => edits.push(made))
  const edit = (n: number) => {
    while (edits.length <= n) text.insert(text.length, '.')
    return edits[n] as Uint8Array
  }
  const typed = Y.getState(doc.store, AUTHOR)
  const check = (state: Uint8Array, count: number) => {
    const clock = Y.decodeStateVector(Y.encodeStateVectorFromUpdate(state)).get(AUTHOR)
    if (clock !== typed + count) throw new Error(`the state ends at ${clock} instead of ${typed + count}`)
  }
  return { steps, characters: trace.finalText.length, update, edit, check }
}
