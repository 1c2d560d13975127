import type { StyleProfile } from '@docrelay/protocol/rest'
import { badEntry, checkName, type Entry, isObject, own, readEntries } from '../collections/entries.ts'

const MAX_PROFILES = 500
const MAX_PROPERTIES_BYTES = 16 * 1024
const MAX_COLLECTION_IDS = 64
const MAX_COLLECTION_ID_BYTES = 64

/**
 * Reads style profiles as they are stored: keeps only the first of several with the same id, and keeps unknown members. Throws
 * BAD_COLLECTIONS. [REST-32]
 */
export function healProfiles(list: unknown): readonly StyleProfile[] {
  return readEntries(list, 'profiles', MAX_PROFILES).map(readProfile)
}

function readProfile({ index, given, id }: Entry): StyleProfile {
  checkFavorite(own(given, 'favorite'), index)
  checkCollectionIds(own(given, 'collectionIds'), index)
  return {
    ...given,
    id,
    name: checkName(own(given, 'name'), index),
    properties: readProperties(own(given, 'properties'), index),
    createdAt: readCreatedAt(own(given, 'createdAt'), index),
  }
}

function readProperties(properties: unknown, index: number): Readonly<Record<string, unknown>> {
  if (isObject(properties) && Buffer.byteLength(JSON.stringify(properties)) <= MAX_PROPERTIES_BYTES) return properties
  throw badEntry(index, 'properties', `is an object of at most ${MAX_PROPERTIES_BYTES} bytes of JSON`, MAX_PROPERTIES_BYTES)
}

function readCreatedAt(createdAt: unknown, index: number): number {
  if (Number.isSafeInteger(createdAt) && (createdAt as number) >= 0) return createdAt as number
  throw badEntry(index, 'createdAt', 'is a time in whole milliseconds')
}

function checkFavorite(favorite: unknown, index: number): void {
  if (favorite !== undefined && typeof favorite !== 'boolean') throw badEntry(index, 'favorite', 'is true or false')
}

function checkCollectionIds(ids: unknown, index: number): void {
  if (ids === undefined) return
  if (!Array.isArray(ids) || ids.length > MAX_COLLECTION_IDS) {
    throw badEntry(index, 'collectionIds', `is a list of at most ${MAX_COLLECTION_IDS} ids`, MAX_COLLECTION_IDS)
  }
  const areIds = (ids as readonly unknown[]).every(
    (id) => typeof id === 'string' && id !== '' && Buffer.byteLength(id) <= MAX_COLLECTION_ID_BYTES,
  )
  if (!areIds) {
    throw badEntry(index, 'collectionIds', `holds ids of 1 to ${MAX_COLLECTION_ID_BYTES} bytes`, MAX_COLLECTION_ID_BYTES)
  }
}
