import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './usage.css'

/** What the workspace uses, and its limits. */
export function UsageView({ session }: { readonly session: Session }) {
  return (
    <main class="usage-view" data-workspace={session.person.workspace}>
      <h1>{messages.usage.title}</h1>
    </main>
  )
}
