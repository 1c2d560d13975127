import type { AccessPolicy } from '../access.ts'

/** The policy of a relay with the default configuration. */
export const PRIVATE_DOCS: AccessPolicy = { enforcePrivateDocs: true, staticTokenShare: 'none' }
/** A policy that opens every document to its workspace. */
export const OPEN_DOCS: AccessPolicy = { enforcePrivateDocs: false, staticTokenShare: 'none' }
