import type { Blobs } from '../blobs/blobs.ts'
import { blobRoutes } from '../blobs/blobs.routes.ts'
import type { Ingest } from '../blobs/ingest.ts'
import { ingestRoutes } from '../blobs/ingest.routes.ts'
import { createCalls } from '../calls/calls.ts'
import { callRoutes } from '../calls/calls.routes.ts'
import { type Bodies, openBodies } from '../documents/bodies.ts'
import { createDocuments, type Documents } from '../documents/documents.ts'
import { documentRoutes } from '../documents/documents.routes.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { documentBodyLimit } from '../http/request-body.ts'
import type { Route } from '../http/route.ts'
import { openPreviews, type Previews } from '../previews/previews.ts'
import { previewRoutes } from '../previews/previews.routes.ts'
import { createRecovery } from '../recovery/recovery.ts'
import { recoveryRoutes } from '../recovery/recovery.routes.ts'
import type { Search } from '../search/search.ts'
import { searchRoutes } from '../search/search.routes.ts'
import type { Base } from './base.ts'
import { type BlobBackend, openBlobs, openIngest } from './blobs.ts'
import type { Live } from './live.ts'
import { openSearch } from './search.ts'
import { openWorkspace } from './workspace.ts'
import { accessPolicyOf } from './access-policy.ts'

/** The routes of the services of a workspace. */
export interface Features {
  readonly routes: readonly Route[]
  readonly bodies: Bodies
  readonly documents: Documents
  readonly blobs: Blobs
  readonly previews: Previews
  readonly ingest: Ingest
  readonly search: Search
}

/** Opens documents and the services around them, each on its ports. */
export function openFeatures(
  base: Base,
  storage: Storage,
  backend: BlobBackend,
  live: Live,
  opened: AsyncDisposableStack,
): Features {
  const { config, clock, random, log, metrics } = base
  const accessPolicy = accessPolicyOf(config)
  const bodies = opened.use(openBodies({ maxBytes: documentBodyLimit(config.tenancy.limits.maxDocBytes), log }))
  const { rooms: residents, events, records } = live
  const store = storage.documents
  const documents = createDocuments({ store, residents, events, records, bodies, accessPolicy, clock, log, metrics })
  const points = { documents, store: storage.recovery, residents, events, bodies, accessPolicy, clock, random, log }
  const blobs = openBlobs(base, backend, storage, live)
  const previews = opened.use(openPreviews({ documents, clock, log }))
  const ingest = openIngest(base, blobs)
  const search = openSearch(base, storage, live, { documents, bodies }, opened)
  const routes = [
    ...documentRoutes({ documents, editorClient: config.compat.editorClient }),
    ...blobRoutes(blobs),
    ...ingestRoutes(ingest),
    ...recoveryRoutes({ recovery: createRecovery(points), editorClient: config.compat.editorClient }),
    ...callRoutes({ calls: createCalls({ documents, store, calls: storage.calls, clock, log }) }),
    ...openWorkspace(base, storage, live, documents),
    ...previewRoutes({ previews }),
    ...searchRoutes({ search }),
  ]
  return { routes, bodies, documents, blobs, ingest, previews, search }
}
