"""SVM_t: the target alone."""
