import { SyncClient, type SyncState } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import type { TestIssuer } from '../../../auth/testing/test-issuer.ts'
import type { Front } from './front.ts'
import type { Recorder } from './recorder.ts'
import { pause } from './requests.ts'

/** A person with one document open who types marks. The checks at the end look for each mark. */
export interface Typist {
  readonly name: string
  readonly document: string
  readonly client: SyncClient
  readonly front: Front
  /** Types until `running` returns false. May be called again afterwards. */
  type(running: () => boolean): Promise<void>
  /** Types one mark into the paragraph that all calls of `write` share. */
  write(): void
}

export interface TypistOptions {
  readonly name: string
  readonly document: string
  readonly front: Front
  readonly issuer: TestIssuer
  readonly recorder: Recorder
  readonly random: () => number
  readonly editsPerSec: number
}

export const TYPED_PAGE = 'text'

/** Connects the typist; typing begins with `type`. */
export function openTypist({ name, document, front, issuer, recorder, random, editsPerSec }: TypistOptions): Typist {
  /** The marks that are not durable yet, in order, each with the number of its edit. */
  const unsaved: { readonly edit: number; readonly mark: string; readonly atMs: number }[] = []
  let outSinceMs: number | null = null
  let wasSynced = false
  let typed = 0
  let text: Y.XmlText | null = null
  const noteSaved = (): void => {
    const { saved } = client.progress
    const nowMs = performance.now()
    while (unsaved[0] !== undefined && unsaved[0].edit <= saved) {
      const { mark, atMs } = unsaved.shift() as (typeof unsaved)[number]
      recorder.acknowledged.push({ source: 'typed', document, mark, atMs: nowMs })
      recorder.saves.push({ client: name, fromMs: atMs, toMs: nowMs })
    }
  }
  const noteState = (state: SyncState): void => {
    const nowMs = performance.now()
    if (state.closed !== null && outSinceMs === null && wasSynced) {
      outSinceMs = nowMs
      recorder.closes.push({
        client: name,
        node: front.nodeOf(name),
        atMs: nowMs,
        code: state.closed.code,
        reason: state.closed.reason,
      })
    }
    if (state.synced && outSinceMs !== null) {
      recorder.reconnects.push({ client: name, fromMs: outSinceMs, toMs: nowMs })
      outSinceMs = null
    }
    wasSynced ||= state.synced
    noteSaved()
  }
  const client: SyncClient = new SyncClient({
    url: `${front.wsUrl}?client=${name}`,
    docId: document,
    doc: new Y.Doc(),
    token: () => issuer.token({ sub: name }),
    onState: noteState,
    onEvent: ({ eventType, docId }) => {
      if (eventType === 'created') recorder.noteCreated(name, docId)
    },
  })
  client.connect()
  const newText = (): Y.XmlText => {
    const page = client.doc.getXmlFragment(`prose:${TYPED_PAGE}`)
    const made = new Y.XmlText()
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [made])
    page.insert(page.length, [paragraph])
    return made
  }
  const write = (into: () => Y.XmlText): void => {
    const mark = `[${name}.${typed++}]`
    client.doc.transact(() => {
      const made = into()
      made.insert(made.length, mark)
    })
    unsaved.push({ edit: client.progress.edits, mark, atMs: performance.now() })
  }
  return {
    name,
    document,
    client,
    front,
    async type(running) {
      const own = newText()
      while (running()) {
        await pause((1_000 / editsPerSec) * (0.5 + random()))
        write(() => own)
      }
    },
    write: () => write(() => (text ??= newText())),
  }
}
