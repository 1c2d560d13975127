import type { LiveDocument } from '@docrelay/client'

/** A file that is being sent into the document, or that failed. */
export interface FileUnderWay {
  readonly key: number
  readonly name: string
  readonly sizeBytes: number
  /** The page into which the file goes. */
  readonly pageId: string
  readonly state: 'waiting' | 'sending' | 'failed'
  /** Why the file failed; `null` while it has not. */
  readonly problem: string | null
}

/** The files that are being sent into one document. Sending continues when the person leaves the page or panel in which the files were chosen. */
export class FilesUnderWay {
  #files: readonly FileUnderWay[] = []
  readonly #aborts = new Map<number, AbortController>()
  /** Each listener, with a function that says which files its view shows to the person. */
  readonly #watchers = new Map<() => void, (file: FileUnderWay) => boolean>()
  #made = 0

  get files(): readonly FileUnderWay[] {
    return this.#files
  }

  /** Whether a file is neither in the document nor failed yet. */
  get isSending(): boolean {
    return this.#files.some(({ problem }) => problem === null)
  }

  /** The failed files that no view shows. */
  get unseen(): readonly FileUnderWay[] {
    const shown = [...this.#watchers.values()]
    return this.#files.filter((file) => file.problem !== null && !shown.some((shows) => shows(file)))
  }

  watch(changed: () => void, shows: (file: FileUnderWay) => boolean = () => false): () => void {
    this.#watchers.set(changed, shows)
    this.#set(this.#files)
    return () => {
      this.#watchers.delete(changed)
      this.#set(this.#files)
    }
  }

  /** Sends a file when `turn` has resolved, unless the file is dropped before. `send` resolves with the reason of a failure, or `null`. */
  async take(
    file: Pick<FileUnderWay, 'name' | 'sizeBytes' | 'pageId'>,
    send: (stop: AbortSignal) => Promise<string | null>,
    turn: Promise<void> = Promise.resolve(),
  ): Promise<void> {
    const key = ++this.#made
    const abort = new AbortController()
    const { signal: stop } = abort
    this.#aborts.set(key, abort)
    this.#set([...this.#files, { ...file, key, state: 'waiting', problem: null }])
    await turn
    if (stop.aborted) return
    this.#change(key, { state: 'sending' })
    const problem = await send(stop)
    if (stop.aborted) return
    if (problem === null) this.drop(key)
    else this.#change(key, { state: 'failed', problem })
  }

  /** Cancels a file that is being sent, or closes the note about a failed one. */
  drop(key: number): void {
    this.#aborts.get(key)?.abort()
    this.#aborts.delete(key)
    this.#set(this.#files.filter((file) => file.key !== key))
  }

  #change(key: number, change: Partial<FileUnderWay>): void {
    this.#set(this.#files.map((file) => (file.key === key ? { ...file, ...change } : file)))
  }

  #set(files: readonly FileUnderWay[]): void {
    this.#files = files
    for (const changed of [...this.#watchers.keys()]) changed()
  }
}

// A WeakMap: an entry lives as long as its document is open.
const underWay = new WeakMap<LiveDocument, FilesUnderWay>()

export function filesUnderWay(document: LiveDocument): FilesUnderWay {
  const known = underWay.get(document) ?? new FilesUnderWay()
  underWay.set(document, known)
  return known
}
