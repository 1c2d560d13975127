import './app/app.css'
import { render } from 'preact'
import { App } from './app/app.tsx'

const root = document.getElementById('app')
const page = {
  now: () => Date.now(),
  storage: sessionStorage,
  location,
  history,
  fetch: (...call: Parameters<typeof fetch>) => fetch(...call),
}
if (root !== null) render(<App page={page} />, root)
