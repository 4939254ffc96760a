export { run } from "./Cli.ts"
