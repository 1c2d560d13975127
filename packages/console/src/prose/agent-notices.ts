import { type LiveDocument, RelayError } from '@docrelay/client'
import { signal } from '@preact/signals'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import type { AgentEdit } from './agent-edits.ts'

const texts = messages.prose.agents
const MOST_NOTICES = 3

/** An edit of an agent, and the progress of undoing it. */
export interface AgentNotice {
  readonly key: number
  readonly edit: AgentEdit
  readonly state: 'offered' | 'undoing' | 'undone' | 'failed'
  readonly text: string
}

/**
 * Notices about the latest edits of agents, which offer to undo them. Each notice stays until it is closed, because 8 s are too short to read and
 * press.
 */
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
    // An agent that takes several steps within one call sends an edit for each; the newest replaces the notice of the call.
    const others = this.list.value.filter((each) => each.edit.callId === null || each.edit.callId !== edit.callId)
    this.list.value = [...others, notice].slice(-MOST_NOTICES)
  }

  dismiss(key: number): void {
    this.list.value = this.list.value.filter((notice) => notice.key !== key)
  }

  /** Undoes the changes of the call, except where somebody has changed the same place since. [AG-72] */
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
