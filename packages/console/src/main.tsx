import './app/app.css'
import { render } from 'preact'
import { messages } from './messages.en.ts'

const root = document.getElementById('app')
if (root !== null) render(<p>{messages.app.signingIn}</p>, root)
