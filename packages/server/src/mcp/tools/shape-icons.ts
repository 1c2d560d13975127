import { bareHash } from '@docrelay/model/canvas/stored-shape'
import { nearestNames } from '@docrelay/model/nearest'
import type { Access } from '../../access/access.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { JsonObject, ToolCall } from '../tool.ts'
import type { Icon, IconCatalogue } from './icon-catalogue.ts'

export interface IconDeps {
  readonly icons: IconCatalogue
  readonly blobs: Pick<Blobs, 'find'>
}

/** At most this many ids get suggestions, since each comparison takes milliseconds. */
const MAX_COMPARED = 5
/** Limit on concurrent look-ups, since each may be a request to a store. */
const ASKED_AT_ONCE = 32

/**
 * Computes the argument `unknownIcons` of shape edits: each `iconId` in the call that this relay does not know, with the most similar known ids.
 * The document model cannot do so: it knows neither the catalogue nor the blobs of a workspace. [ICON-3, ICON-4]
 */
export async function unknownIconsOf({ args, access }: ToolCall, { icons, blobs }: IconDeps): Promise<JsonObject> {
  const shapes = [args['shape'], args['patch'], ...((args['shapes'] ?? []) as readonly unknown[])]
  const named = [...new Set(shapes.map((shape) => (shape as JsonObject | undefined)?.['iconId']))]
  const ids = named.filter((id): id is string => typeof id === 'string' && id !== '')
  if (ids.length === 0) return {}
  const builtIn = new Set(icons.icons.map(({ id }) => id))
  const others = ids.filter((id) => !builtIn.has(id))
  const held = await heldHashes(access, others, blobs)
  const unknown = others.filter((id) => !held.has(id))
  return { unknownIcons: Object.fromEntries(unknown.map((id, i) => [id, i < MAX_COMPARED ? nearestIcons(id, icons.icons) : []])) }
}

/** Returns the ids that are hashes of blobs which the workspace holds for this caller. */
async function heldHashes(access: Access, ids: readonly string[], blobs: IconDeps['blobs']): Promise<ReadonlySet<string>> {
  const hashes = ids.filter((id) => bareHash(id) !== null)
  const held = new Set<string>()
  for (let at = 0; at < hashes.length; at += ASKED_AT_ONCE) {
    const look = async (id: string): Promise<void> => {
      if (await holds(access, bareHash(id) as string, blobs)) held.add(id)
    }
    await Promise.all(hashes.slice(at, at + ASKED_AT_ONCE).map(look))
  }
  return held
}

async function holds(access: Access, hash: string, blobs: IconDeps['blobs']): Promise<boolean> {
  try {
    await blobs.find(access, hash)
    return true
  } catch (error) {
    if (error instanceof RelayError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

/** Returns similar icons; none for a hash. Icons that share a word with the id go first, since only part of a long list is compared. */
function nearestIcons(id: string, icons: readonly Icon[]): readonly string[] {
  if (bareHash(id) !== null) return []
  const slug = id
    .slice(0, 100)
    .toLowerCase()
    .replace(/^builtin:/, '')
  const words = slug.split(/[^a-z0-9]+/).filter((word) => word.length > 2)
  const isAlike = (icon: Icon): boolean => words.some((word) => icon.id.includes(word))
  const [alike, others] = [icons.filter(isAlike), icons.filter((icon) => !isAlike(icon))]
  return nearestNames(
    `builtin:${slug}`,
    [...alike, ...others].map((icon) => icon.id),
  )
}
