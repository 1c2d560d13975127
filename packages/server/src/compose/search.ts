import type { Bodies } from '../documents/bodies.ts'
import type { Documents } from '../documents/documents.ts'
import { openSearchIndex } from '../drivers/sql/search/search-index.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import { createIndexFeed } from '../search/index-feed.ts'
import { createSearch, type Search } from '../search/search.ts'
import type { Base } from './base.ts'
import type { Live } from './live.ts'
import { accessPolicyOf } from './access-policy.ts'

/** Opens search. The index receives every stored change; its threads start with the first change or search. [AG-64] */
export function openSearch(
  { config, clock, log, severalNodes }: Base,
  storage: Storage,
  { rooms: residents, written }: Live,
  { documents, bodies }: { readonly documents: Documents; readonly bodies: Bodies },
  opened: AsyncDisposableStack,
): Search {
  const timers = systemTimers
  const index = opened.use(openSearchIndex({ url: config.storage.url, isShared: severalNodes, log }))
  const feed = opened.use(createIndexFeed({ index, timers }))
  storage.onStored((document) => feed.stored(document))
  // Several nodes share the index; each node indexes only the documents that it has stored itself.
  written.listen({
    edited() {},
    // A restore writes a document without an edit or a PUT, so the index learns of it only from the published event.
    published: (event) => feed.stored(event.kind === 'deleted' ? event.before : event.head),
  })
  const accessPolicy = accessPolicyOf(config)
  return createSearch({ documents, store: storage.documents, residents, bodies, index, accessPolicy, clock, timers })
}
