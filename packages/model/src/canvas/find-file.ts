import { blobReferencesIn, listedBlobReferences } from '../blob-references.ts'
import type { DocumentBody } from '../body.ts'
import { writeBody } from '../body-write.ts'
import { refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'
import { readStampedId } from '../stamps/stamp.ts'
import { fileReferences } from './files.ts'
import { bareHash } from './stored-shape.ts'

/** The ways in which a call can name a file. A call gives exactly one of these members. */
export interface FileArgs {
  readonly id?: string | undefined
  readonly hash?: string | undefined
  readonly blobRef?: string | undefined
}

export interface NamedFile {
  readonly id: string
  readonly name: string
  readonly hash: string
  /** The type that the document stores; `null` when it stores none. */
  readonly mimeType: string | null
}

/** Refuses a call that does not name a file in exactly one way, or has a malformed hash. Returns `null` otherwise. Needs no document. [TOOL-get_file] */
export function fileArgsFlaw(args: FileArgs): Refusal | null {
  const given = (['id', 'hash', 'blobRef'] as const).filter((name) => args[name] !== undefined)
  const [only] = given
  if (only === undefined || given.length > 1) {
    const expected = 'exactly one of id, hash and blobRef'
    const got = given.length === 0 ? 'none' : given.join(', ')
    return refused('ERR_BAD_ARGUMENT', `Name the file by ${expected}; ${got} came.`, {
      argument: given[1] ?? 'id',
      expected,
      got,
    })
  }
  if (only === 'id' || bareHash(args[only]) !== null) return null
  const got = quote(args[only] ?? '')
  return refused('ERR_BAD_BLOB_REF', `${only} must be 64 lowercase hex digits, with or without blob://; "${got}" is not.`, {
    got,
  })
}

/** Finds the file of a document that a call names. Refuses a file that the document does not reference. [FILE-3] */
export function findFile(body: DocumentBody, args: FileArgs): NamedFile | Refusal {
  const flaw = fileArgsFlaw(args)
  if (flaw !== null) return flaw
  const hash = bareHash(args.hash ?? args.blobRef)
  const files = fileReferences(body)
  const withId = (id: string | undefined) => files.find((file) => file.id === id)
  const found =
    hash === null ? (withId(args.id) ?? withId(readStampedId(args.id ?? '')?.id)) : files.find((file) => file.hash === hash)
  if (found !== undefined) {
    const telling = found.mimeType === undefined ? files.find((file) => file.hash === found.hash && file.mimeType) : found
    return { id: found.id, name: found.name, hash: found.hash, mimeType: telling?.mimeType ?? null }
  }
  // A blob that is referenced only outside shapes and prose, such as in the list `blobReferences`, is found by its hash only.
  const isReferenced = (named: string): boolean =>
    listedBlobReferences(body).includes(named) || blobReferencesIn(writeBody(body)).includes(named)
  if (hash !== null && isReferenced(hash)) return { id: hash, name: hash, hash, mimeType: null }
  return hash === null ? fileNotFound({ id: quote(args.id as string) }) : fileNotFound({ hash })
}

/** The one refusal for three cases: a file is not referenced, a file is not granted, or the bytes of a file are missing. [ERR_FILE_NOT_FOUND] */
export function fileNotFound(named: { readonly id: string } | { readonly hash: string }): Refusal {
  const told = 'id' in named ? quote(named.id) : named.hash
  return refused(
    'ERR_FILE_NOT_FOUND',
    `The document has no file "${told}" that can be read; service_list_files names those it has.`,
    named,
  )
}
