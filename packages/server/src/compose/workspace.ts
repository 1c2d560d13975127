import { collectionRoutes } from '../collections/collections.routes.ts'
import type { Config } from '../config/config.ts'
import type { Documents } from '../documents/documents.ts'
import { purgeMemberRoutes } from '../documents/purge-member.routes.ts'
import { bucketOf } from '../access/rate-limiter.port.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import type { Route } from '../http/route.ts'
import { createShareLinks } from '../share-links/share-links.ts'
import { type ShareLinkPlace, shareLinkRoutes } from '../share-links/share-links.routes.ts'
import { styleProfileRoutes } from '../style-profiles/style-profiles.routes.ts'
import { usageRoutes } from '../usage/usage.routes.ts'
import type { Base } from './base.ts'
import type { Live } from './live.ts'

/** Opens the services around documents that have no bytes of their own: registries, usage, and sharing. */
export function openWorkspace(base: Base, storage: Storage, live: Live, documents: Documents): readonly Route[] {
  const { config, clock, random, log, metrics } = base
  const { seats, rateLimiter } = live
  const { limits } = config.tenancy
  const registries = { store: storage.registries, maxBytes: limits.maxConfigBytes }
  const links = createShareLinks({ store: storage.shareLinks, documents, rateLimiter, clock, random, log, metrics })
  return [
    ...collectionRoutes({ registries, documents }),
    ...styleProfileRoutes(registries),
    ...usageRoutes({
      documents: storage.documents,
      blobs: storage.blobs,
      registries: storage.registries,
      seats,
      rateLimiter,
      writes: bucketOf(limits.writesPerSec, limits.writesBurst),
      maxConnections: limits.maxWsConnectionsPerWorkspace,
    }),
    ...shareLinkRoutes({ links, documents, clock, opensAt: shareLinksOpenAt(config), docsUrl: config.server.docsUrl }),
    ...purgeMemberRoutes({ documents, log }),
  ]
}

/** Returns what share links open: the configured page, else the console, else the relay's page that says where to open the link. [SHARE-2] */
function shareLinksOpenAt({ share, console }: Config): ShareLinkPlace {
  if (share.linkBase !== null) return { kind: 'elsewhere', base: share.linkBase }
  return console.enabled ? { kind: 'console', path: console.path } : { kind: 'page' }
}
