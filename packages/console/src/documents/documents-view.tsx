import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './documents.css'

/** The documents of the workspace that the person may see. */
export function DocumentsView({ session }: { readonly session: Session }) {
  return (
    <main class="documents-view" data-workspace={session.person.workspace}>
      <h1>{messages.documents.title}</h1>
    </main>
  )
}
