import type { LiveDocument } from '@docrelay/client'
import { bindProse, type PageProblem, type ProseBinding } from '@docrelay/prosemirror'
import { signal } from '@preact/signals'
import type { Node } from 'prosemirror-model'
import { type Command, NodeSelection, Plugin, TextSelection } from 'prosemirror-state'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { type AgentEdit, agentMarks, marked, MARKED_MS, watchAgents } from './agent-edits.ts'
import { AgentNotices } from './agent-notices.ts'
import { chipViews } from './chips.ts'
import { Following } from './following.ts'
import type { FormRequest } from './request-dialog.tsx'
import { citationForm, fieldForm, formulaForm, imageForm, linkForm } from './forms.ts'
import { typedForms } from './input-rules.ts'
import { keys } from './keys.ts'
import { Library } from './library.ts'
import { links, pastedLinks } from './links.ts'
import { headingsOf, positionOfHeading } from './outline-headings.ts'
import { type Heading, shownOf } from './shown-page.ts'
import { cellEdges, tables } from './tables.ts'
import { isSameToolState, mainTools, NO_TOOLS, type Tool, toolState } from './tool-list.ts'
import { typingBeside } from './typing-beside.ts'
import { Uploads } from './uploads.ts'

/** The parts of a prose page on the screen. Components read its signals. */
export class ProseController {
  readonly tools = signal(NO_TOOLS)
  readonly problems = signal<readonly PageProblem[]>([])
  readonly isEditable = signal(false)
  /** The form of the open dialog; `null` when none is open. */
  readonly form = signal<FormRequest | null>(null)
  readonly headings = signal<readonly Heading[]>([])
  readonly uploads: Uploads
  readonly notices: AgentNotices
  readonly following: Following
  readonly toolGroups = mainTools({
    link: this.#asks(() => linkForm(this.binding.view)),
    formula: this.#asks(() => formulaForm(this.binding.view, null)),
    field: this.#asks(() => fieldForm(this.binding.view, this.#library, null)),
    citation: this.#asks(() => citationForm(this.binding.view, this.#library, null)),
    image: (_, dispatch) => {
      if (dispatch !== undefined) this.#chooseFiles()
      return true
    },
  })
  readonly binding: ProseBinding
  readonly #session: Session
  readonly #library: Library
  readonly #chooseFiles: () => void
  readonly #ends: (() => void)[] = []
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  #marked: readonly AgentEdit[] = []
  #frame = 0

  /** `chooseFiles` opens the file dialog of the browser; `focusTools` moves the focus to the toolbar. */
  constructor(
    session: Session,
    document: LiveDocument,
    pageId: string,
    element: HTMLElement,
    chooseFiles: () => void,
    focusTools: () => void,
  ) {
    this.#session = session
    this.#chooseFiles = chooseFiles
    this.#library = new Library(document.ydoc)
    this.uploads = new Uploads(session, document, pageId, () => this.binding.view)
    this.notices = new AgentNotices(session, document)
    this.binding = bindProse(document, pageId, {
      element,
      readOnly: document.level === 'view' || document.gone !== null,
      images: this.uploads.load,
      plugins: [
        ...keys({ link: this.toolGroups[2]?.[4]?.command as Command, edit: this.#editSelected, tools: focusTools }),
        typingBeside(),
        typedForms(),
        tables(),
        cellEdges(),
        pastedLinks(),
        this.uploads.plugin(),
      ],
      viewPlugins: [links(session.go), agentMarks(), this.#watch()],
      nodeViews: chipViews(this.#library, { edit: (at) => this.#edit(at), download: (node) => void this.#download(node) }),
      attributes: {
        'aria-label': messages.prose.page,
        'aria-describedby': 'prose-help',
        'aria-multiline': 'true',
        role: 'textbox',
        class: 'prose-text',
      },
      onShown: ({ view, isEditable, problems }) => {
        this.isEditable.value = isEditable
        this.problems.value = problems
        view.dispatch(view.state.tr.setMeta(marked.key, this.#marked))
      },
    })
    this.following = new Following(document, () => this.binding.view)
    this.#ends.push(
      document.on('level', (level) => this.binding.setReadOnly(level === 'view' || document.gone !== null)),
      document.on('gone', () => this.binding.setReadOnly(true)),
      watchAgents(document.awareness, pageId, (edit) => this.#agentWrote(edit)),
    )
    const shown = shownOf(document).page
    const page = { pageId, headings: this.headings, show: (index: number) => this.#showHeading(index) }
    shown.value = page
    this.#ends.push(() => {
      if (shown.value === page) shown.value = null
    })
    this.#refresh()
  }

  /** Runs a tool and moves the focus back to the text. */
  use({ command }: Tool): void {
    const { view } = this.binding
    command(view.state, view.dispatch, view)
    if (this.form.value === null) view.focus()
  }

  destroy(): void {
    for (const end of this.#ends) end()
    for (const timer of this.#timers) clearTimeout(timer)
    cancelAnimationFrame(this.#frame)
    this.following.destroy()
    this.uploads.destroy()
    this.binding.destroy()
    this.#library.destroy()
  }

  /** Returns a command that opens a dialog, and that is disabled when `form` returns `null`. */
  #asks(form: () => FormRequest | null): Command {
    return (_, dispatch) => {
      const request = form()
      if (request !== null && dispatch !== undefined) this.form.value = request
      return request !== null
    }
  }

  readonly #editSelected: Command = ({ selection }, dispatch) => {
    if (!(selection instanceof NodeSelection)) return false
    const request = this.#formFor(selection.from)
    if (request === null) return false
    if (dispatch !== undefined) this.form.value = request
    return true
  }

  #edit(at: number): void {
    this.form.value = this.#formFor(at)
  }

  #formFor(at: number): FormRequest | null {
    const { view } = this.binding
    switch (view.state.doc.nodeAt(at)?.type.name) {
      case 'mathInline':
      case 'mathBlock':
        return formulaForm(view, at)
      case 'fieldRef':
        return fieldForm(view, this.#library, at)
      case 'citationInline':
        return citationForm(view, this.#library, at)
      case 'image':
        return imageForm(view, at)
      default:
        return null
    }
  }

  /** Marks the blocks of an edit for 8 s, and shows a notice about it. */
  #agentWrote(edit: AgentEdit): void {
    this.#mark([...this.#marked, edit])
    if (edit.blocks.length > 0 || edit.callId !== null) this.notices.add(edit)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#mark(this.#marked.filter((each) => each !== edit))
    }, MARKED_MS)
    this.#timers.add(timer)
  }

  #mark(edits: readonly AgentEdit[]): void {
    this.#marked = edits
    const { view } = this.binding
    view.dispatch(view.state.tr.setMeta(marked.key, edits))
  }

  /** Updates the toolbar and the outline after changes, once per frame. */
  #watch(): Plugin {
    return new Plugin({
      view: () => ({
        update: () => {
          if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#refresh())
        },
      }),
    })
  }

  #refresh(): void {
    this.#frame = 0
    const { state } = this.binding.view
    this.isEditable.value = this.binding.isEditable
    const problems = this.binding.problems
    if (problems.length > 0 || this.problems.value.length > 0) this.problems.value = problems
    const tools = this.binding.isEditable ? toolState(state, this.toolGroups) : NO_TOOLS
    if (!isSameToolState(tools, this.tools.value)) this.tools.value = tools
    this.headings.value = headingsOf(state.doc, this.headings.value)
    this.following.refresh()
  }

  #showHeading(index: number): void {
    const { view } = this.binding
    const at = positionOfHeading(view.state.doc, index)
    if (at === null) return
    view.dispatch(view.state.tr.setSelection(TextSelection.near(view.state.doc.resolve(at + 1))))
    this.following.scrollTo(at)
    view.focus()
  }

  async #download({ attrs }: Node): Promise<void> {
    const hash = /^blob:\/\/([0-9a-f]{64})$/.exec(String(attrs['blobRef']))?.[1]
    if (hash === undefined) return
    try {
      const { bytes, mimeType } = await this.#session.relay.blobs.download(hash)
      const url = URL.createObjectURL(new Blob([bytes], { type: mimeType }))
      const link = Object.assign(document.createElement('a'), { href: url, download: String(attrs['fileName'] ?? hash) })
      link.click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    } catch (error) {
      this.#session.announce(messages.prose.downloadFailed((error as Error).message))
    }
  }
}
