import { readSync, syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import type { TestClient } from './test-client.ts'

/** A Y.Doc behind a raw client. It sends step1 and step2, applies the updates that it receives, and sends its own edits. */
export class TextEditor {
  readonly doc: Y.Doc
  readonly client: TestClient
  readonly text: Y.Text

  constructor(client: TestClient, doc = new Y.Doc()) {
    this.client = client
    this.doc = doc
    this.text = doc.getText('t')
    client.socket.on('message', (data: Buffer) => this.#receive(data))
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== this) client.send(syncFrame(2, update))
    })
  }

  start(docId: string): void {
    this.client.join(docId)
    this.client.send(syncFrame(0, Y.encodeStateVector(this.doc)))
  }

  #receive(data: Buffer): void {
    if (data[0] !== TAG.sync) return
    const read = readSync(data.subarray(1))
    if (read === null) throw new Error('an undecodable SYNC frame came')
    if (read.subType === 0) this.client.send(syncFrame(1, Y.encodeStateAsUpdate(this.doc, read.payload)))
    else Y.applyUpdate(this.doc, read.payload, this)
  }
}
