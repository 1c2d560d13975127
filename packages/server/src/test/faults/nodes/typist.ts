import { SyncClient, type SyncState } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import type { TestIssuer } from '../../../auth/testing/test-issuer.ts'
import type { Front } from './front.ts'
import type { Recorder } from './recorder.ts'
import { pause } from './requests.ts'

/** A person with one document open, who types marks, each of which is looked for at the end. */
export interface Typist {
  readonly name: string
  readonly document: string
  readonly client: SyncClient
  readonly front: Front
  /** Types until `running` returns false. */
  type(running: () => boolean): Promise<void>
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
  /** The edit by which each mark that is not durable yet was made, in order. */
  const unsaved: { readonly edit: number; readonly mark: string; readonly atMs: number }[] = []
  let outSinceMs: number | null = null
  let wasSynced = false
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
  })
  client.connect()
  return {
    name,
    document,
    client,
    front,
    async type(running) {
      const page = client.doc.getXmlFragment(`prose:${TYPED_PAGE}`)
      const text = new Y.XmlText()
      const paragraph = new Y.XmlElement('paragraph')
      paragraph.insert(0, [text])
      page.insert(page.length, [paragraph])
      for (let i = 0; running(); i++) {
        await pause((1_000 / editsPerSec) * (0.5 + random()))
        const mark = `[${name}.${i}]`
        text.insert(text.length, mark)
        unsaved.push({ edit: client.progress.edits, mark, atMs: performance.now() })
      }
    },
  }
}
