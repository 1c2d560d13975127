import type { AccessPolicy } from '../access.ts'

/** As a relay is without configuration. */
export const PRIVATE_DOCS: AccessPolicy = { enforcePrivateDocs: true, staticTokenShare: 'none' }
/** Every document is open to its workspace. */
export const OPEN_DOCS: AccessPolicy = { enforcePrivateDocs: false, staticTokenShare: 'none' }
