import type { PageViewProps } from '../app/views.ts'
import './prose.css'

/** A prose page of an open document, to be edited together. */
export function ProsePage({ pageId }: PageViewProps) {
  return <section class="prose-page" data-page={pageId} />
}
