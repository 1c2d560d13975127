import { expect } from 'vitest'
import * as Y from 'yjs'
import { LateWords } from '../late-words/late-words.ts'
import { RemovedBlocks } from '../late-words/removed-blocks.ts'
import { reconcileFragment } from '../prose/prose-fragment.ts'
import { page, root, shown, tree } from './live-page.ts'

export const RELAY = 'relay'

/**
 * Creates a relay's copy of a page, which remembers removed blocks in `removed`, and a person whose frames are held back until `send`.
 */
export function lateScene(html: string, removed = new RemovedBlocks()) {
  const relay = page(html)
  relay.getMap('prosePages').set('p', {})
  const ann = new Y.Doc()
  Y.applyUpdate(ann, Y.encodeStateAsUpdate(relay))
  const at = { late: new LateWords(relay, removed), nowMs: 0, before: html, dropped: 0 }
  relay.on('afterTransaction', (transaction: Y.Transaction) => {
    if (transaction.origin === RELAY) at.late.remember(transaction, at.nowMs)
  })
  const held: Uint8Array[] = []
  ann.on('update', (update: Uint8Array, origin: unknown) => origin !== 'remote' && held.push(update))
  const edit = (after: string): void => {
    relay.transact(() => reconcileFragment(relay.getXmlFragment(root), tree(at.before), tree(after)), RELAY)
    at.before = shown(relay)
  }
  const receive = (update: Uint8Array): void => {
    const words = at.late.find(update, at.nowMs)
    Y.applyUpdate(relay, update, 'ann')
    at.dropped += at.late.place(words, RELAY)
  }
  const send = (): string => {
    for (const update of held.splice(0)) receive(update)
    Y.applyUpdate(ann, Y.encodeStateAsUpdate(relay, Y.encodeStateVector(ann)), 'remote')
    expect(shown(ann)).toBe(shown(relay))
    return shown(relay)
  }
  return { relay, ann, at, held, edit, receive, send, page: ann.getXmlFragment(root) }
}

type LateScene = ReturnType<typeof lateScene>

/** Two ways to deliver the edits of a person: in the updates in which they were made, or in one update, as from a person who was offline. */
export const deliveries = [
  ['in many updates', (scene: LateScene) => scene.send()],
  [
    'in one update',
    ({ ann, held, receive, send }: LateScene) => {
      held.length = 0
      receive(Y.encodeStateAsUpdate(ann))
      return send()
    },
  ],
] as const

/** Returns the texts below a node, in order. */
export function textsIn(node: Y.XmlFragment): Y.XmlText[] {
  return node.toArray().flatMap((child) => (child instanceof Y.XmlText ? [child] : textsIn(child as Y.XmlFragment)))
}

/** Types words at an offset of a text. Each letter is a separate update. */
export function type(text: Y.XmlText, at: number, words: string): void {
  for (const [i, letter] of [...words].entries()) text.insert(at + i, letter)
}
