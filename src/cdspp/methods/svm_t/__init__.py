"""SVM_t: only the target."""
