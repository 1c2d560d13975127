import type { DocumentMetadata, Relay } from '@docrelay/client'
import { expect, it } from 'vitest'
import { DocumentList, type ListState } from './document-list.ts'

const document = (id: string): DocumentMetadata => ({ id, name: id, collectionId: null }) as DocumentMetadata

it('[CON-25] an event during the loading of the list is not undone by the answer, which may be older', async () => {
  const listeners = new Map<string, (event: object) => void>()
  let answer: (found: object) => void = () => {}
  const relay = {
    on: (name: string, listener: (event: object) => void) => {
      listeners.set(name, listener)
      return () => {}
    },
    documents: { list: () => new Promise((resolve) => (answer = resolve)) },
  } as unknown as Relay
  let state: ListState | null = null
  const list = new DocumentList(relay, { q: '', collectionId: null }, (next) => (state = next))
  const shown = () => state?.documents.map(({ id }) => id)
  listeners.get('event')?.({ eventType: 'created', docId: 'new', metadata: document('new') })
  listeners.get('event')?.({ eventType: 'deleted', docId: 'gone' })
  answer({ documents: [document('old'), document('gone')], next: null })
  await expect.poll(shown).toEqual(['new', 'old'])
  list.close()
})
