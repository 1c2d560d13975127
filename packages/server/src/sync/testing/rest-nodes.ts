import * as Y from 'yjs'
import type { Answer, CallOptions, RestRelay } from '../../http/testing/rest-relay.ts'
import { startRestRelay } from '../../http/testing/rest-relay.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { type NodeBench, type NodeBenchOptions, startNodes, type TestNode, until } from './node-bench.ts'
import type { TextEditor } from './text-editor.ts'

/** Two nodes. The first owns the documents that people have open, and the second answers REST. */
export interface RestNodes extends AsyncDisposable {
  readonly bench: NodeBench
  readonly relay: RestRelay
  readonly owner: TestNode
  /** The node that answers REST. */
  readonly edge: TestNode
  /** Makes a call at the edge as the person to whom all documents belong. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Creates a document that a person has open at the owner. */
  opened(id: string, body?: object): Promise<TextEditor>
  /** Changes the title as this person. Resolves when the change is in the log. The body is not stored. */
  retitle(person: TextEditor, id: string, title: string): Promise<void>
  headOf(id: string): Promise<DocumentHead>
}

export const ANN = { sub: 'ann', role: 'member' } as const

/** Starts two nodes that store a body only when somebody reads it, never by a timer, and keep every document open. */
export async function startRestNodes(more: Partial<NodeBenchOptions> = {}): Promise<RestNodes> {
  let bench: NodeBench | null = null
  const node = (at: number): TestNode => {
    const found = bench?.nodes[at]
    if (found === undefined) throw new Error('the nodes have not started')
    return found
  }
  const relay = await startRestRelay({
    residents: late(() => node(1).bench.rooms),
    store: () => late(() => node(1).stores.documents),
    recovery: () => late(() => node(1).stores.recovery),
  })
  const nodes = await startNodes({
    count: 2,
    storage: relay.storage,
    saveIdleMs: 600_000,
    bench: { rooms: { idleMs: 600_000 } },
    ...more,
  })
  bench = nodes
  const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    relay.call(method, path, { as: ANN, ...options })
  const headOf = async (id: string): Promise<DocumentHead> => {
    const state = await relay.storage.documents.state({ workspaceId: 'default', id })
    if (state.kind !== 'document') throw new Error(`there is no document ${id}`)
    return state.head
  }
  return {
    bench: nodes,
    relay,
    owner: node(0),
    edge: node(1),
    call,
    headOf,
    async opened(id, body = {}) {
      const { status, text } = await call('PUT', `/api/docs/${id}`, { body: { name: id, ...body } })
      if (status !== 200) throw new Error(`the document was not created: ${text}`)
      return node(0).editor(id)
    },
    async retitle(person, id, title) {
      const { key } = await headOf(id)
      const metadata = person.doc.getMap('metadata')
      // Waits until the editor has the current title. Otherwise the two titles would be set at the same time, and either may win.
      await until(() => metadata.has('title'))
      metadata.set('title', title)
      // The title in the log is compared, because the log also grows when the document is opened.
      await until(async () => (await loggedTitle(relay.storage, key)) === title)
    },
    async [Symbol.asyncDispose]() {
      await nodes[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    },
  }
}

/** Returns the title of a document according to its log. */
async function loggedTitle({ updates }: RestRelay['storage'], key: number): Promise<unknown> {
  const log = await updates.load(key)
  if (log.kind !== 'loaded') throw new Error('the log was not loaded')
  const doc = new Y.Doc()
  for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
  return doc.getMap('metadata').get('title')
}

/** Returns a proxy for an object that exists only later. Each use gets the object from `of`. */
function late<T extends object>(of: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const member: unknown = Reflect.get(of(), name)
      return typeof member === 'function' ? (member.bind(of()) as unknown) : member
    },
  })
}
