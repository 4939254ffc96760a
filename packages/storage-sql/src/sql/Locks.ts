export { update, updateSkipLocked as updateFree } from "../dialect/Locks.ts"
