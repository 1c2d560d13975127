import { type Author, ChangeRecord, type NotedChange } from './change-record.ts'
import type { DocumentRef } from './document-store.port.ts'

/** A listener to the begin and end of recording. */
export interface RecordListener {
  /** Called when the recording of a document begins or ends. */
  held(ref: DocumentRef, isHeld: boolean): void
}

/**
 * The change records of this process. A record exists while somebody holds its document. Changes of other documents are not recorded and cost
 * nothing. [AG-20]
 */
export interface ChangeRecords {
  /** Starts to record the changes of a document. Recording ends when every holder has called the function that it got. */
  hold(ref: DocumentRef): () => void
  isHeld(ref: DocumentRef): boolean
  /** Returns the record of a document; `null` while nobody holds the document. */
  of(ref: DocumentRef): ChangeRecord | null
  /** As `ChangeRecord.note`; does nothing while nobody holds the document. */
  note(ref: DocumentRef, author: Author, changes: Iterable<NotedChange>, atMs: number, version?: number): void
  /** As `ChangeRecord.noteElsewhere`; does nothing while nobody holds the document. */
  noteElsewhere(ref: DocumentRef, author: Author, version: number, atMs: number): void
  /** Holds a document and calls `noted` after each change of it, until the returned function is called. */
  onNoted(ref: DocumentRef, noted: () => void): () => void
  onHeld(listener: RecordListener): void
}

interface Held {
  readonly record: ChangeRecord
  readonly noted: Set<() => void>
  holders: number
}

export function createChangeRecords(): ChangeRecords {
  const documents = new Map<string, Held>()
  const listeners: RecordListener[] = []
  // NUL separates the two ids, because neither can contain it. [BODY-11]
  const keyOf = ({ workspaceId, id }: DocumentRef): string => `${workspaceId}\0${id}`
  const told = (ref: DocumentRef, isHeld: boolean): void => {
    for (const listener of listeners) listener.held(ref, isHeld)
  }

  function hold(ref: DocumentRef): () => void {
    const key = keyOf(ref)
    const known = documents.get(key)
    const held = known ?? { record: new ChangeRecord(), noted: new Set(), holders: 0 }
    held.holders++
    if (known === undefined) {
      documents.set(key, held)
      told(ref, true)
    }
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      if (--held.holders > 0) return
      documents.delete(key)
      told(ref, false)
    }
  }

  function noting(ref: DocumentRef, note: (record: ChangeRecord) => void): void {
    const held = documents.get(keyOf(ref))
    if (held === undefined) return
    const before = held.record.sequence
    note(held.record)
    if (held.record.sequence > before) for (const noted of [...held.noted]) noted()
  }

  return {
    hold,
    isHeld: (ref) => documents.has(keyOf(ref)),
    of: (ref) => documents.get(keyOf(ref))?.record ?? null,
    note: (ref, author, changes, atMs, version) => noting(ref, (record) => record.note(author, changes, atMs, version)),
    noteElsewhere: (ref, author, version, atMs) => noting(ref, (record) => record.noteElsewhere(author, version, atMs)),
    onNoted(ref, noted) {
      const release = hold(ref)
      const { noted: all } = documents.get(keyOf(ref)) as Held
      all.add(noted)
      return () => {
        all.delete(noted)
        release()
      }
    },
    onHeld: (listener) => void listeners.push(listener),
  }
}
