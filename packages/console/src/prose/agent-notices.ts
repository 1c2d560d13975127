import { type LiveDocument, RelayError } from '@docrelay/client'
import { signal } from '@preact/signals'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import type { AgentEdit } from './agent-edits.ts'

const texts = messages.prose.agents
const MOST_NOTICES = 3

/** What an agent changed, and what became of taking it back. */
export interface AgentNotice {
  readonly key: number
  readonly edit: AgentEdit
  readonly state: 'offered' | 'undoing' | 'undone' | 'failed'
  readonly text: string
}

/** Tells of the latest edits of agents and takes them back. Each notice stays until it is closed: 8 s are too short to read and press. */
export class AgentNotices {
  readonly list = signal<readonly AgentNotice[]>([])
  readonly #session: Session
  readonly #document: LiveDocument
  #made = 0

  constructor(session: Session, document: LiveDocument) {
    this.#session = session
    this.#document = document
  }

  add(edit: AgentEdit): void {
    const text = texts.changed(edit.name, edit.blocks.length)
    const notice = { key: ++this.#made, edit, state: 'offered' as const, text }
    // An agent that takes several steps within one call tells of each of them.
    const others = this.list.value.filter((each) => each.edit.callId === null || each.edit.callId !== edit.callId)
    this.list.value = [...others, notice].slice(-MOST_NOTICES)
  }

  dismiss(key: number): void {
    this.list.value = this.list.value.filter((notice) => notice.key !== key)
  }

  /** Takes back what the call changed, but for what somebody changed since. [AG-72] */
  async undo({ key, edit }: AgentNotice): Promise<void> {
    if (edit.callId === null) return
    this.#tell(key, 'undoing', texts.undoing(edit.name))
    try {
      const { changed, kept, keptTotal } = await this.#session.relay.calls.undo(this.#document.id, edit.callId)
      const left = kept.map(({ text }) => text)
      this.#tell(key, 'undone', texts.undone(edit.name, changed, keptTotal ?? kept.length, left))
    } catch (error) {
      const isTooLate = error instanceof RelayError && error.code === 'NOT_UNDOABLE'
      this.#tell(key, 'failed', isTooLate ? texts.notUndoable : texts.failed((error as Error).message))
    }
  }

  #tell(key: number, state: AgentNotice['state'], text: string): void {
    this.list.value = this.list.value.map((notice) => (notice.key === key ? { ...notice, state, text } : notice))
  }
}
