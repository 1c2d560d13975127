import { useComputed, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { PageViewProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { RequestDialog } from './request-dialog.tsx'
import { ProseController } from './prose-controller.ts'
import { NoticeList, ProblemBanner, UploadList } from './prose-notices.tsx'
import { shownOf } from './shown-page.ts'
import { Toolbar } from './toolbar.tsx'
import { toolsAt } from './tool-list.ts'
import './prose.css'
import './prose-text.css'

const texts = messages.prose

/** A prose page of an open document, to be edited together. */
export function ProsePage({ session, document, pageId }: PageViewProps) {
  const place = useRef<HTMLDivElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const bars = useRef<HTMLDivElement>(null)
  const shown = useSignal<ProseController | null>(null)
  useLayoutEffect(() => {
    const focusTools = () => bars.current?.querySelector<HTMLElement>('[role=toolbar] [tabindex="0"]')?.focus()
    const controller = new ProseController(
      session,
      document,
      pageId,
      place.current as HTMLElement,
      () => files.current?.click(),
      focusTools,
    )
    shown.value = controller
    return () => {
      shown.value = null
      controller.destroy()
    }
  }, [session, document, pageId])
  const controller = shown.value
  const form = controller?.form.value ?? null
  const hadForm = useRef(false)
  useLayoutEffect(() => {
    // After any dialog, including one opened from the toolbar, the focus goes back to the text.
    if (hadForm.current && form === null) controller?.binding.view.focus()
    hadForm.current = form !== null
  }, [controller, form])
  return (
    <section class="prose-page" data-page={pageId}>
      {controller !== null && <ProblemBanner problems={controller.problems.value} />}
      <div ref={bars} class="prose-bars">
        {controller?.isEditable.value === true && (
          <Toolbar
            label={texts.toolbar}
            groups={controller.toolGroups}
            state={controller.tools.value}
            onTool={(tool) => controller.use(tool)}
            onLeave={() => controller.binding.view.focus()}
          />
        )}
      </div>
      <div ref={place} class="prose-place" />
      <p id="prose-help" class="visually-hidden">
        {texts.help}
      </p>
      <input
        ref={files}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget }) => {
          controller?.uploads.take([...(currentTarget.files ?? [])], controller.binding.view.state.selection.to)
          currentTarget.value = ''
        }}
      />
      {controller !== null && <Dock controller={controller} session={session} document={document} pageId={pageId} />}
      {controller !== null && form !== null && (
        <RequestDialog
          request={form}
          onClose={() => {
            controller.form.value = null
          }}
        />
      )}
    </section>
  )
}

/** Floats above the lower end of the page: tools for the block with the caret, and notices. */
function Dock({ controller, document, pageId }: PageViewProps & { readonly controller: ProseController }) {
  const { place } = controller.tools.value
  const { followed } = shownOf(document)
  const name = useComputed(() => {
    const id = followed.value
    const user: unknown = id === null ? null : document.awareness.getStates().get(id)?.['user']
    const shownName = (user as { readonly name?: unknown } | null | undefined)?.name
    return typeof shownName === 'string' ? shownName.slice(0, 40) : texts.somebody
  })
  return (
    <div class="prose-dock">
      {controller.isEditable.value && place !== null && (
        <Toolbar
          key={place}
          label={place === 'table' ? texts.tableToolbar : texts.calloutToolbar}
          groups={toolsAt(place)}
          state={controller.tools.value}
          onTool={(tool) => controller.use(tool)}
          onLeave={() => controller.binding.view.focus()}
        />
      )}
      {followed.value !== null && (
        <div class="prose-notice">
          <p>{texts.following(name.value)}</p>
          <button
            type="button"
            onClick={() => {
              followed.value = null
            }}
          >
            {texts.stopFollowing}
          </button>
        </div>
      )}
      <UploadList document={document} pageId={pageId} />
      <NoticeList notices={controller.notices} canUndo={controller.isEditable.value} />
    </div>
  )
}
