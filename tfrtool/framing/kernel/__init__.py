"""The hot loops over buffers: one pure Python twin, and the choice of the kernel in use."""
