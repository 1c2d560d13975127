import type { LiveDocument } from '@docrelay/client'

/** A file on its way into the document, or one that did not get there. */
export interface FileUnderWay {
  readonly key: number
  readonly name: string
  readonly sizeBytes: number
  /** The page on which it is put. */
  readonly pageId: string
  readonly state: 'waiting' | 'sending' | 'failed'
  /** Why it failed. */
  readonly problem: string | null
}

/** The files on their way into one document. They go on when the page or the panel in which they were chosen is left. */
export class FilesUnderWay {
  #files: readonly FileUnderWay[] = []
  readonly #aborts = new Map<number, AbortController>()
  /** Who is told of changes, with the files that it shows to the person. */
  readonly #watchers = new Map<() => void, (file: FileUnderWay) => boolean>()
  #made = 0

  get files(): readonly FileUnderWay[] {
    return this.#files
  }

  /** Whether some are neither in the document nor failed. */
  get isSending(): boolean {
    return this.#files.some(({ problem }) => problem === null)
  }

  /** Those that failed while nothing on the screen shows them. */
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

  /** Sends a file when its turn comes, unless it is given up before. `send` resolves with why it failed, or `null`. */
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

  /** Gives a file up, or closes the note on one that failed. */
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

// A document that nobody has open any more takes its entry with it.
const underWay = new WeakMap<LiveDocument, FilesUnderWay>()

export function filesUnderWay(document: LiveDocument): FilesUnderWay {
  const known = underWay.get(document) ?? new FilesUnderWay()
  underWay.set(document, known)
  return known
}
