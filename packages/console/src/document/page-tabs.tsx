import type { LiveDocument } from '@docrelay/client'
import { useRef, useState } from 'preact/hooks'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { Field } from '../controls/field.tsx'
import { FormDialog } from '../controls/form-dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { Menu } from '../controls/menu.tsx'
import { messages } from '../messages.en.ts'
import { addPage, deletePage, movePage, type PageEntry, renamePage } from './document-pages.ts'

/** The pages of the document, one of which is shown. Arrow keys move between them. */
export function PageTabs(props: {
  readonly live: LiveDocument
  readonly pages: readonly PageEntry[]
  readonly shown: PageEntry | null
  readonly readOnly: boolean
  /** Id of the element that shows the page. */
  readonly panelId: string
  readonly onShow: (id: string) => void
}) {
  const { live, pages, shown, readOnly, onShow } = props
  const text = messages.document
  const list = useRef<HTMLDivElement>(null)
  const [asking, setAsking] = useState<{ readonly what: 'rename' | 'delete'; readonly id: string } | null>(null)
  // The dialog is about a page by its id, because following somebody may show another page meanwhile.
  const asked = pages.find(({ id }) => id === asking?.id)
  // Closes the dialog for good when its page is deleted, so that it does not open again when somebody restores the page.
  if (asking !== null && asked === undefined) setAsking(null)

  const add = (kind: PageEntry['kind'], word: string): void => {
    const page = { id: crypto.randomUUID(), kind, name: freeName(word, pages) }
    addPage(live.ydoc, page)
    onShow(page.id)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0
    const at = pages.findIndex(({ id }) => id === shown?.id)
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? pages.length - 1 : (at + step + pages.length) % pages.length
    const page = pages[to]
    if (page === undefined || to === at) return
    event.preventDefault()
    onShow(page.id)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[to]?.focus()
  }
  const siblings = pages.filter(({ kind }) => kind === shown?.kind)
  const place = siblings.findIndex(({ id }) => id === shown?.id)
  return (
    <div class="page-tabs">
      <div class="tab-list" role="tablist" aria-label={text.pages} ref={list} onKeyDown={onKeyDown}>
        {pages.map((page) => (
          <button
            key={page.id}
            type="button"
            role="tab"
            class="tab"
            aria-selected={page.id === shown?.id}
            aria-controls={page.id === shown?.id ? props.panelId : undefined}
            tabIndex={page.id === shown?.id ? 0 : -1}
            onClick={() => onShow(page.id)}
          >
            <Icon name={page.kind} />
            {page.name === '' ? text.nameless : page.name}
          </button>
        ))}
      </div>
      {!readOnly && shown !== null && (
        <Menu
          label={text.pageMenu(shown.name)}
          items={[
            { text: text.renamePage, icon: 'edit', onChoose: () => setAsking({ what: 'rename', id: shown.id }) },
            { text: text.moveLeft, icon: 'left', disabled: place <= 0, onChoose: () => movePage(live.ydoc, shown, -1) },
            {
              text: text.moveRight,
              icon: 'right',
              disabled: place === siblings.length - 1,
              onChoose: () => movePage(live.ydoc, shown, 1),
            },
            {
              text: text.deletePage,
              icon: 'remove',
              danger: true,
              disabled: pages.length === 1,
              onChoose: () => setAsking({ what: 'delete', id: shown.id }),
            },
          ]}
        />
      )}
      {!readOnly && (
        <Menu
          label={text.addPage}
          items={[
            { text: text.addProse, icon: 'prose', onChoose: () => add('prose', text.newProse) },
            { text: text.addCanvas, icon: 'canvas', onChoose: () => add('canvas', text.newCanvas) },
          ]}
        >
          <Icon name="add" />
        </Menu>
      )}
      {!readOnly && asking?.what === 'rename' && asked !== undefined && (
        <RenameDialog name={asked.name} onRename={(name) => renamePage(live.ydoc, asked, name)} onClose={() => setAsking(null)} />
      )}
      {!readOnly && asking?.what === 'delete' && asked !== undefined && (
        <ConfirmDialog
          title={text.deletePageTitle(asked.name)}
          text={text.deletePageText}
          action={text.deletePage}
          danger
          onConfirm={() => {
            deletePage(live.ydoc, asked)
            setAsking(null)
          }}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  )
}

function RenameDialog(props: { readonly name: string; readonly onRename: (name: string) => void; readonly onClose: () => void }) {
  const text = messages.document
  const [name, setName] = useState(props.name)
  return (
    <FormDialog
      title={text.renamePage}
      action={text.save}
      isDisabled={name.trim() === ''}
      onSubmit={() => {
        props.onRename(name.trim())
        props.onClose()
      }}
      onClose={props.onClose}
    >
      <Field label={text.pageName} value={name} onInput={setName} />
    </FormDialog>
  )
}

/** Returns the word, with a number when a page has that name already. */
function freeName(word: string, pages: readonly PageEntry[]): string {
  const taken = new Set(pages.map(({ name }) => name))
  for (let number = 1; ; number++) {
    const name = number === 1 ? word : `${word} ${number}`
    if (!taken.has(name)) return name
  }
}
