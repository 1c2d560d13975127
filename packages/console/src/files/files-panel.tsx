import { useSignalEffect } from '@preact/signals'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { formatBytes } from '../app/amounts.ts'
import { Problem } from '../app/problem.tsx'
import { parseRoute } from '../app/route.ts'
import { useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Icon } from '../controls/icon.tsx'
import { type FileUnderWay, filesUnderWay } from '../document/files-under-way.ts'
import { useFilesUnderWay, useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import { shownOf } from '../prose/shown-page.ts'
import { type DocumentPage, filesOf, pagesOf } from './document-files.ts'
import { FileRow } from './file-row.tsx'
import { Uploads } from './uploads.ts'
import './files.css'

const texts = messages.files

/** The files of the document: adds, saves and removes them, and shows which page uses which. */
export function FilesPanel({ session, document }: PanelProps) {
  const { relay } = session
  const { ydoc } = document
  const level = useLevel(document)
  const [shown, setShown] = useState(() => ({ files: filesOf(ydoc), pages: pagesOf(ydoc) }))
  const heading = useRef<HTMLHeadingElement>(null)
  /** Set when a file is removed: its row goes with the focused button, so the focus moves to the heading. */
  const isRemoved = useRef(false)
  useEffect(() => {
    if (isRemoved.current) heading.current?.focus()
    isRemoved.current = false
  }, [shown])
  const usage = useLoaded((signal) => relay.usage({ signal }), [relay, document.id])
  const uploads = useMemo(() => new Uploads({ session, document }, () => crypto.randomUUID()), [session, document])
  const { reload } = usage
  const underWay = useFilesUnderWay(document)
  const { dropped } = shownOf(document)
  useSignalEffect(() => {
    const [files, page] = [dropped.value, chosenPage(shown.pages)]
    if (files.length === 0) return
    dropped.value = []
    if (page !== undefined) void uploads.take(files, page).then(reload)
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null
    const look = () => {
      timer = null
      setShown({ files: filesOf(ydoc), pages: pagesOf(ydoc) })
    }
    // Gathers changes, because typing changes the document many times a second but hardly ever its files.
    const changed = () => {
      timer ??= setTimeout(look, 300)
    }
    ydoc.on('update', changed)
    return () => {
      ydoc.off('update', changed)
      if (timer !== null) clearTimeout(timer)
    }
  }, [ydoc])

  return (
    <section class="files-panel" data-document={document.id}>
      <h2>{texts.title}</h2>
      {level === 'view' ? (
        <p class="help">{texts.readOnly}</p>
      ) : shown.pages.length === 0 ? (
        <p class="help">{texts.noPages}</p>
      ) : (
        <AddFiles pages={shown.pages} onFiles={(files, page) => void uploads.take(files, page).then(reload)} />
      )}
      {usage.value !== null && usage.value.storageQuota !== null && (
        <p class="help">{texts.space(formatBytes(usage.value.storageBytes), formatBytes(usage.value.storageQuota))}</p>
      )}
      <Problem words={usage.problem} />
      <UploadList list={underWay} onDrop={(key) => filesUnderWay(document).drop(key)} />
      <h3 ref={heading} tabIndex={-1}>
        {texts.list}
      </h3>
      {shown.files.length === 0 && <p>{texts.none}</p>}
      <ul class="file-list panel-rows">
        {shown.files.map((file) => (
          <FileRow
            key={file.hash}
            session={session}
            document={document}
            file={file}
            onRemoved={() => {
              isRemoved.current = true
            }}
          />
        ))}
      </ul>
    </section>
  )
}

/** Returns the page on the screen. */
function chosenPage(pages: readonly DocumentPage[]): DocumentPage | undefined {
  const route = parseRoute(location.hash)
  return pages.find(({ id }) => route.view === 'document' && id === route.pageId) ?? pages[0]
}

function AddFiles(props: {
  readonly pages: readonly DocumentPage[]
  readonly onFiles: (files: readonly File[], page: DocumentPage) => void
}) {
  const { pages, onFiles } = props
  const id = useId()
  const [isOver, setOver] = useState(false)
  const [chosen, choose] = useState(() => chosenPage(pages)?.id)
  const page = pages.find((known) => known.id === chosen) ?? (pages[0] as DocumentPage)
  const take = (files: FileList | null | undefined) => {
    if (files != null && files.length > 0) onFiles([...files], page)
  }
  return (
    <div
      class={isOver ? 'add-files is-over' : 'add-files'}
      tabIndex={0}
      role="group"
      aria-label={texts.add}
      aria-describedby={`${id}-help`}
      onPaste={(event) => take(event.clipboardData?.files)}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files)
      }}
    >
      <label class="button choose">
        <Icon name="add" />
        {texts.add}
        <input
          class="visually-hidden"
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            take(currentTarget.files)
            // Cleared so that the same file can be chosen again, for example after a refusal.
            currentTarget.value = ''
          }}
        />
      </label>
      <p id={`${id}-help`} class="help">
        {texts.addHelp}
      </p>
      <label>
        {texts.page}{' '}
        <select value={page.id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {pages.map((known) => (
            <option key={`${known.kind} ${known.id}`} value={known.id}>
              {known.name}, {texts.place[known.kind]}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

function UploadList({ list, onDrop }: { readonly list: readonly FileUnderWay[]; readonly onDrop: (key: number) => void }) {
  return (
    <ul class="panel-rows">
      {list.map(({ key, name, sizeBytes, state, problem }) => (
        <li key={key}>
          <span class="name">
            {texts.uploading(name, formatBytes(sizeBytes))}
            {problem === null ? (
              <progress aria-label={texts[state as 'waiting' | 'sending']} />
            ) : (
              <span class="flaw">{problem}</span>
            )}
          </span>
          <Button label={state === 'failed' ? texts.dismissName(name) : texts.cancelName(name)} onClick={() => onDrop(key)}>
            {state === 'failed' ? texts.dismiss : texts.cancel}
          </Button>
        </li>
      ))}
    </ul>
  )
}
