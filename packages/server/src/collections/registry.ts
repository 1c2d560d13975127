import { type Access, requireWriter } from '../access/access.ts'
import { badRequest, readMembers } from '../kernel/bad-request.ts'
import { RelayError } from '../kernel/errors.ts'
import type { RegistryKind, RegistryStore } from './registry-store.port.ts'

/** One versioned list that a workspace keeps beside its documents. */
export interface RegistryDeclaration {
  readonly kind: RegistryKind
  /** Name of the member with the list, in requests, answers and conflicts. */
  readonly member: 'collections' | 'profiles'
  /** Returns the list as it will be stored. Throws BAD_COLLECTIONS. */
  heal(list: unknown): readonly unknown[]
}

export interface RegistryDeps {
  readonly store: RegistryStore
  /** max_config_bytes. */
  readonly maxBytes: number
}

/** Returns the JSON answer of a registry, which any role may read. [PERM-3] */
export async function readRegistry(deps: RegistryDeps, access: Access, registry: RegistryDeclaration): Promise<Uint8Array> {
  const { version, text } = await deps.store.read(access.workspaceId, registry.kind)
  return Buffer.from(`{"${registry.member}":${text},"version":${version}}`)
}

/**
 * Replaces the whole list; durable when it resolves. Viewers are refused. A request that expects another version gets
 * an error with the stored list. [REST-25, REST-32, PERM-3]
 */
export async function replaceRegistry(
  deps: RegistryDeps,
  access: Access,
  { kind, member, heal }: RegistryDeclaration,
  json: unknown,
): Promise<{ readonly success: true; readonly newVersion: number }> {
  requireWriter(access)
  const { [member]: list, expectedVersion } = readMembers(json)
  const outcome = await deps.store.replace({
    workspaceId: access.workspaceId,
    kind,
    text: JSON.stringify(heal(list)),
    expectedVersion: readExpectedVersion(expectedVersion),
    maxBytes: deps.maxBytes,
  })
  switch (outcome.kind) {
    case 'replaced':
      return { success: true, newVersion: outcome.version }
    case 'conflict': {
      const { version, text } = outcome.current
      const message = `The stored version is ${version}, not ${String(expectedVersion)}.`
      throw new RelayError('VERSION_CONFLICT', message, {
        currentVersion: version,
        [member]: JSON.parse(text) as unknown,
        version,
      })
    }
    case 'too-large': {
      const { sizeBytes } = outcome
      const message = `Collections and style profiles would have ${sizeBytes} bytes and max_config_bytes is ${deps.maxBytes}.`
      throw new RelayError('CONFIG_TOO_LARGE', message, { sizeBytes, maxBytes: deps.maxBytes })
    }
  }
}

/**
 * Reads the expected version. `null`: absent, so the list is replaced whatever its version. A JSON null is refused: if it counted as absent, it
 * would replace the list by mistake.
 */
function readExpectedVersion(value: unknown): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw badRequest('expectedVersion', 'The member expectedVersion is an integer from 0 to 9007199254740991.')
}
