import { RelayError } from '../../kernel/errors.ts'
import type { McpContent, ResourceSink } from '../content.ts'

/** Resources for tests, one of them public. The test triggers their changes. */
export interface FakeContent extends McpContent {
  /** Notifies every watch of this URI. */
  change(uri: string): void
  changeList(): void
  readonly watches: number
  /** Makes each later call of `readable` wait until `release` is called. `begun` resolves when such a call waits. */
  holdLooks(): { readonly begun: Promise<void>; release(): void }
}

export function fakeContent(): FakeContent {
  const open = new Set<{ readonly sink: ResourceSink; readonly uris: Set<string> }>()
  let look = async (): Promise<void> => undefined
  const exists = (uri: string): boolean => uri === 'relay://icons' || /^relay:\/\/doc\/\d+$/.test(uri)
  return {
    get watches() {
      return open.size
    },
    change(uri) {
      for (const { sink, uris } of open) if (uris.has(uri)) sink.updated(uri)
    },
    holdLooks() {
      const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      look = () => {
        begun.resolve()
        return released.promise
      }
      return { begun: begun.promise, release: released.resolve }
    },
    changeList() {
      for (const { sink } of open) sink.listChanged()
    },
    resources: {
      async list(_, cursor) {
        if (cursor !== null && cursor !== 'second') return null
        const name = cursor === null ? 'icons' : 'a document'
        const uri = cursor === null ? 'relay://icons' : 'relay://doc/1'
        return { resources: [{ uri, name }], nextCursor: cursor === null ? 'second' : null }
      },
      templates: [{ uriTemplate: 'relay://doc/{id}', name: 'document' }],
      async read(_, uri) {
        if (uri === 'relay://broken') throw new Error('secret detail')
        if (uri === 'relay://vanished') throw new RelayError('NOT_FOUND', 'secret detail')
        return exists(uri) ? [{ uri, mimeType: 'application/json', text: '{}' }] : null
      },
      async readable(_, uris) {
        await look()
        return new Set(uris.filter(exists))
      },
      isPublic: (uri) => uri === 'relay://icons',
      watch(_, sink) {
        const watch = { sink, uris: new Set<string>() }
        open.add(watch)
        return {
          add(uri) {
            watch.uris.add(uri)
            // Adding a URI after `close` opens the watch again, so a test that counts open watches notices it.
            open.add(watch)
          },
          remove: (uri) => void watch.uris.delete(uri),
          close: () => void open.delete(watch),
        }
      },
    },
    prompts: {
      list: () => [{ name: 'recipe', title: 'Recipe', description: 'A recipe.', arguments: [{ name: 'docId', required: true }] }],
      get: (name, args) =>
        name === 'recipe' && args['docId'] !== undefined
          ? { kind: 'found', result: { messages: [{ role: 'user', content: { type: 'text', text: `cook ${args['docId']}` } }] } }
          : { kind: 'refused', message: 'There is no such prompt or argument.' },
    },
    complete: async (_, { ref, argument }) =>
      ref['type'] === 'ref/prompt' ? { values: [`${argument.value}!`], total: 1, hasMore: false } : null,
  }
}
